import type { KafkaMessage, Message } from 'kafkajs';
import type { LogMessage, LogRecord } from '../log';

/** The id, where no CloudEvents header says it. */
const ID_HEADER = 'dak_id';

export function toKafkaMessage(
  { id, key, headers, payload }: LogMessage,
  partition: number,
): Message & { partition: number } {
  return {
    key,
    partition,
    value: Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
    headers: headers['ce_id'] === id ? { ...headers } : { ...headers, [ID_HEADER]: id },
  };
}

/** Records of foreign producers get their position as an id, so that they can be distinguished too. */
export function fromKafkaMessage(
  message: KafkaMessage,
  topic: string,
  partition: number,
): LogRecord {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(message.headers ?? {})) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) headers[name] = first.toString();
  }
  const { [ID_HEADER]: ownId, ...rest } = headers;
  return {
    id: ownId ?? rest['ce_id'] ?? `${topic}/${partition}/${message.offset}`,
    topic,
    key: message.key?.toString() ?? '',
    headers: rest,
    payload: message.value ?? Buffer.alloc(0),
    partition,
    offset: Number(message.offset),
    publishedAt: Number(message.timestamp),
  };
}
