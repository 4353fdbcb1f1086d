import { namedDatabases } from '@dak/platform/deployment';
import { readDistributedConfig } from './config';

const WHOLE = {
  DAK_DATABASE_URL: 'postgres://admin@127.0.0.1/postgres',
  DAK_KAFKA_BROKERS: '127.0.0.1:9092',
  DAK_REDIS_URL: 'redis://127.0.0.1:6379',
};

describe('the configuration of a distributed run', () => {
  it('names all that is missing in one sentence', () => {
    expect(() => readDistributedConfig({})).toThrow(
      /^A distributed run needs DAK_DATABASE_URL .* and DAK_KAFKA_BROKERS .* and DAK_REDIS_URL .*\.$/,
    );
    const { DAK_KAFKA_BROKERS, ...rest } = WHOLE;
    expect(DAK_KAFKA_BROKERS).toBeDefined();
    expect(() => readDistributedConfig(rest)).toThrow(
      'A distributed run needs DAK_KAFKA_BROKERS (host:port of the brokers that carry the event log): set it,',
    );
  });

  it('takes a database for each service instead of an administrator’s', () => {
    const { DAK_DATABASE_URL, ...rest } = WHOLE;
    const named = { ...rest, DAK_MAIL_DATABASE_URL: DAK_DATABASE_URL };
    expect(() => readDistributedConfig(named)).toThrow(/or each of DAK_WEBHOOK_DATABASE_URL, /);
    expect(() => readDistributedConfig(named)).not.toThrow(/each of .*DAK_MAIL_DATABASE_URL/);
    const config = readDistributedConfig({ ...named, DAK_DATABASE_URL });
    expect(namedDatabases(config)).toEqual({ mail: DAK_DATABASE_URL });
  });
});
