import { readConfig } from './read-config';

describe('readConfig', () => {
  it('gives defaults for what is absent or empty', () => {
    const config = readConfig(['DAK_HTTP_PORT', 'DAK_DATABASE_URL'], { DAK_HTTP_PORT: '' });
    expect(config).toEqual({ DAK_HTTP_PORT: 8080, DAK_DATABASE_URL: undefined });
  });

  it('refuses an unknown DAK_ name and suggests the right one', () => {
    expect(() => readConfig([], { DAK_HTTP_PROT: '1' })).toThrow(
      'DAK_HTTP_PROT is not a setting of Dak (did you mean DAK_HTTP_PORT?).',
    );
  });

  it('names every wrong value at once', () => {
    const read = () =>
      readConfig(['DAK_HTTP_PORT', 'DAK_MAIL_TRANSPORT'], {
        DAK_HTTP_PORT: '70000',
        DAK_MAIL_TRANSPORT: 'pigeon',
      });
    expect(read).toThrow(/DAK_HTTP_PORT .*; DAK_MAIL_TRANSPORT must be capture, direct or smtp/);
  });

  it('leaves names of others and of test runs alone', () => {
    expect(readConfig([], { PATH: '/bin', DAK_TEST_DATABASE_URL: 'x' })).toEqual({});
  });
});
