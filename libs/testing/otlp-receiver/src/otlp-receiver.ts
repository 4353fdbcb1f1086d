import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as OTLP/HTTP carries it in JSON. */
export interface ReceivedSpan {
  /** `service.name` of its resource. */
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  /** Empty for the first one of a trace. */
  parentSpanId: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  attributes: Record<string, unknown>;
  /** 2 = it failed. */
  statusCode: number;
}

/** Takes spans on this machine, as a collector of OpenTelemetry does. */
export interface OtlpReceiver {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  readonly spans: ReceivedSpan[];
  close(): Promise<void>;
}

type Attributes = { key: string; value: Record<string, unknown> }[];

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: Attributes };
    scopeSpans: {
      spans: (Omit<ReceivedSpan, 'attributes' | 'parentSpanId'> & {
        parentSpanId?: string;
        attributes?: Attributes;
        status?: { code?: number };
      })[];
    }[];
  }[];
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST' || request.url !== '/v1/traces') {
        response.writeHead(404).end();
        return;
      }
      spans.push(...spansOf(JSON.parse(Buffer.concat(chunks).toString('utf8')) as ExportRequest));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function spansOf({ resourceSpans }: ExportRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        service,
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        kind: span.kind,
        attributes: valuesOf(span.attributes),
        statusCode: span.status?.code ?? 0,
      })),
    );
  });
}

function valuesOf(attributes: Attributes = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
