import { generateKeyPairSync } from 'node:crypto';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { EVENT_DATA } from '@dak/contracts/api';
import { ERROR_CODES, ERROR_KINDS, OPERATING_CODES, PROTOCOL_CODES } from '@dak/kernel';
import { ofEachBackend } from '@dak/platform/config';
import { InProcessChannel, ServiceRegistry } from '@dak/platform/grpc';
import { createLogger } from '@dak/platform/logging';
import { MemorySharedState } from '@dak/platform/shared-state';
import { ERROR_STATUS } from '../../src/http/error-status';
import { backendOver, createGateway } from '../../src/service';
import { documentBreaks } from './compare-documents';
import { SchemaComparison, type Schema } from './compare-schemas';

/** What clients build on: routes with their records, the data of events, error codes with their status. */
export interface PublicSurface {
  readonly document: Schema;
  readonly events: Readonly<Record<string, Schema>>;
  /** Null for a code that is never the answer to a request. */
  readonly errors: Readonly<Record<string, number | null>>;
}

/** Of this version, without its prose. */
export async function currentSurface(): Promise<PublicSurface> {
  const { paths, components } = await openApi();
  const events = Object.entries(EVENT_DATA).map(([kind, data]) => [
    kind,
    z.toJSONSchema(data, { io: 'output', unrepresentable: 'any' }),
  ]);
  return withoutProse({
    document: { paths, components },
    events: Object.fromEntries(events),
    errors: errorCodes(),
  });
}

/** What `current` breaks of `former`, one sentence each. */
export function surfaceBreaks(former: PublicSurface, current: PublicSurface): string[] {
  const ofEvents = Object.entries(former.events).flatMap(([kind, data]) => {
    const now = current.events[kind];
    if (now === undefined) return [`the event kind ${kind} is gone`];
    return new SchemaComparison(data, now).breaks(data, now, 'response', kind);
  });
  const ofErrors = Object.entries(former.errors)
    .filter(([code, status]) => current.errors[code] !== status)
    .map(([code, status]) => `the error ${code} is ${current.errors[code]}, was ${status}`);
  return [...documentBreaks(former.document, current.document), ...ofEvents, ...ofErrors];
}

/** The gateway with every service behind it; nothing is called. */
async function openApi(): Promise<Schema> {
  const sharedState = new MemorySharedState();
  const nobody = new InProcessChannel(new ServiceRegistry());
  const gateway = createGateway({
    databaseUrl: 'postgresql://127.0.0.1:1/none',
    sharedState,
    logger: createLogger('describing', 'silent'),
    metrics: new Registry(),
    version: '0.0.0-test',
    siteUrl: 'http://127.0.0.1',
    secret: 'a secret of tests with 32 characters',
    sessionKey: generateKeyPairSync('ed25519').privateKey,
    ...backendOver(ofEachBackend(() => nobody)),
  });
  try {
    return JSON.parse(JSON.stringify(gateway.openApi())) as Schema;
  } finally {
    await gateway.close(0);
    await sharedState.close();
  }
}

function errorCodes(): Record<string, number | null> {
  const ofKinds = ERROR_KINDS.flatMap((kind) =>
    Object.keys(ERROR_CODES[kind]).map((code) => [code, ERROR_STATUS[kind]] as const),
  );
  const ofProtocol = Object.entries(PROTOCOL_CODES).map(
    ([code, { status }]) => [code, status] as const,
  );
  const operating = Object.values(OPERATING_CODES).flatMap((codes) => Object.keys(codes));
  return {
    ...Object.fromEntries(operating.map((code) => [code, null])),
    ...Object.fromEntries([...ofKinds, ...ofProtocol]),
  };
}

const PROSE = new Set(['description', 'summary', 'title', 'example', 'examples']);

/** A member of a record may be called like a keyword; then it is a schema, and stays. */
function withoutProse<T>(surface: T): T {
  return JSON.parse(
    JSON.stringify(surface, function (this: Schema, key: string, value: unknown) {
      const isSchema = typeof value === 'object' && value !== null && !Array.isArray(value);
      if (PROSE.has(key) && !isSchema) return undefined;
      const isSaidElsewhere =
        (key === 'links' && this['content'] !== undefined) ||
        (key === 'pattern' && this['format'] !== undefined);
      return isSaidElsewhere ? undefined : value;
    }),
  ) as T;
}
