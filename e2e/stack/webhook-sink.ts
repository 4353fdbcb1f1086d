import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SunkRequest {
  headers: Record<string, string>;
  /** As sent: signatures are over these bytes. */
  body: string;
  event: { id: string; type: string; data: Record<string, unknown> } & Record<string, unknown>;
}

/** A receiver of webhooks on this machine. */
export interface WebhookSink {
  readonly url: string;
  readonly requests: SunkRequest[];
  /** What it answers from now on. @default 204 */
  status: number;
  of(conversationId: string): SunkRequest[];
  close(): Promise<void>;
}

export async function startWebhookSink(): Promise<WebhookSink> {
  const requests: SunkRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const headers = request.headers as Record<string, string>;
      requests.push({ headers, body, event: JSON.parse(body) as SunkRequest['event'] });
      response.writeHead(sink.status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sink: WebhookSink = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    requests,
    status: 204,
    of: (conversationId) =>
      requests.filter(({ event }) => event.data['conversation_id'] === conversationId),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return sink;
}
