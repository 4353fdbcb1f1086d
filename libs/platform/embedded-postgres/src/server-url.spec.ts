import pg from 'pg';
import { fitsSocket, serverUrl } from './server-url';

const server = { user: 'dak_admin', password: 'p/w', port: 5432 };

describe('serverUrl', () => {
  it('names the folder of the socket, whatever is in its name', () => {
    const folder = '/home/asha rao/mäil #1/.dak/postgres';
    expect(new pg.Client(serverUrl({ ...server, folder }))).toMatchObject({
      host: folder,
      port: 5432,
      user: 'dak_admin',
      password: 'p/w',
      database: 'postgres',
    });
  });

  it.each([
    ['is too long', `/home/${'deep/'.repeat(20)}`],
    ['PostgreSQL would take for two', '/home/asha,rao'],
  ])('is one of loopback where there is no socket: a path that %s', (_, folder) => {
    expect(fitsSocket(folder)).toBe(false);
    expect(new pg.Client(serverUrl({ ...server, folder })).host).toBe('127.0.0.1');
  });
});
