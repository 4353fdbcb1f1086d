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

  it('is one of loopback where the path is too long for a socket', () => {
    const folder = `/home/${'deep/'.repeat(20)}`;
    expect(fitsSocket(folder)).toBe(false);
    expect(new pg.Client(serverUrl({ ...server, folder })).host).toBe('127.0.0.1');
  });
});
