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

  it('says what a value must be', () => {
    const read = (environment: Record<string, string>) => () =>
      readConfig(['DAK_HTTP_PORT', 'DAK_LOG_LEVEL', 'DAK_READS_PER_MINUTE'], environment);
    expect(read({ DAK_HTTP_PORT: 'eighty' })).toThrow(
      'DAK_HTTP_PORT must be a port from 0 to 65535.',
    );
    expect(read({ DAK_LOG_LEVEL: 'loud' })).toThrow('DAK_LOG_LEVEL must be one of fatal, error,');
    expect(read({ DAK_READS_PER_MINUTE: '0' })).toThrow('must be an integer of at least 1.');
  });

  it('leaves names of others and of test runs alone', () => {
    expect(readConfig([], { PATH: '/bin', DAK_TEST_DATABASE_URL: 'x' })).toEqual({});
  });

  it('takes credentials apart, whatever the password has', () => {
    const read = (value: string) => readConfig(['DAK_KAFKA_SASL'], { DAK_KAFKA_SASL: value });
    expect(read('scram-sha-512:dak:a:b').DAK_KAFKA_SASL).toEqual({
      mechanism: 'scram-sha-512',
      username: 'dak',
      password: 'a:b',
    });
    expect(() => read('md5:dak:a')).toThrow('DAK_KAFKA_SASL must be plain:user:password');
  });
});
