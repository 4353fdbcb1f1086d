import { randomBytes } from 'node:crypto';
import { describeWithKafka } from '@dak/testing/kafka';
import { KafkaLog } from '../src/index';
import { CONTRACT_TOPICS, describeLog } from './log.contract';
import { openLogDatabase, type LogDatabase } from './log-database';

const LEASE_MS = 900;

describeWithKafka('KafkaLog', (openKafka) => {
  let database: LogDatabase;
  let prefix: string;
  const openLog = async (changes: Partial<Parameters<typeof KafkaLog.open>[0]> = {}) =>
    KafkaLog.open({
      brokers: [await openKafka()],
      pool: database.pool,
      topics: CONTRACT_TOPICS,
      leaseMs: LEASE_MS,
      prefix,
      onDead: (error) => {
        throw error;
      },
      ...changes,
    });
  beforeEach(async () => {
    database = await openLogDatabase();
    prefix = `t${randomBytes(6).toString('hex')}.`;
  });

  describe('as a log', () => {
    describeLog(async () => ({ open: () => openLog(), close: () => database.drop() }));
  });
});
