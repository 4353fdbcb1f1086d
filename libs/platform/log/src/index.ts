export { classifyFailure, type FailureKind } from './failure';
export { KafkaLog, type KafkaLogOptions } from './kafka/kafka-log';
export { registerOutboxMetrics } from './log-metrics';
export {
  askReplay,
  dropParked,
  listParkedKeys,
  replayState,
  type ParkedFilter,
  type ParkedListing,
  type ReplayState,
} from './parked-keys';
export {
  FencedError,
  type BatchContext,
  type HandlingFailure,
  type Log,
  type LogMessage,
  type LogRecord,
  type OutboxRow,
  type OwnedShard,
  type ParkedKey,
  type PartitionLag,
  type RecordHandler,
  type RelayChannel,
  type ReplayResult,
  type SeekTarget,
  type SubscribeOptions,
  type Subscription,
} from './log';
export { createInboxSweeper } from './inbox-sweeper';
export { murmur2, partitionOf } from './murmur2';
export { KAFKA_VARIABLES, openLog, type OpenedLog, type OpenLogOptions } from './open-log';
export { OUTBOX_SHARDS, appendToOutbox, claimInbox, fromLogRecord, toLogMessage } from './outbox';
export { OutboxRelay, type OutboxRelayOptions, type OutboxSource } from './outbox-relay';
export { PostgresLog, type PostgresLogOptions } from './postgres-log';
export { createReadPacing, type ReadPacing } from './read-pacing';
