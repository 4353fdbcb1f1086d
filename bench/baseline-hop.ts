/**
 * A bare grpc-js hop, to see what two processes cost at least: `back` runs the statements and answers
 * with JSON bytes, `front` is Express and passes them on. Without credentials, deadlines or limits.
 *
 * `baseline-hop back STATEMENTS.json` and `baseline-hop front PORT` print `{"port": …}`.
 */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { Client, Server, ServerCredentials, credentials, type sendUnaryData } from '@grpc/grpc-js';
import express from 'express';
import { Pool } from 'pg';

interface Work {
  url: string;
  statements: { text: string; values: (string | null)[] }[];
}

const PATH = '/bench.Conversations/List';
const asIs = (bytes: Buffer): Buffer => bytes;

function back(file: string): void {
  const { url, statements } = JSON.parse(readFileSync(file, 'utf8')) as Work;
  const pool = new Pool({ connectionString: url, max: 8 });
  const prepared = statements.map((statement, index) => ({ ...statement, name: `list_${index}` }));
  const list = async (): Promise<Buffer> => {
    const [page, total] = await Promise.all(prepared.map((statement) => pool.query(statement)));
    const answer = { data: page!.rows.slice(0, 25), total: total?.rows[0] as unknown };
    return Buffer.from(JSON.stringify(answer));
  };
  const server = new Server();
  server.addService(
    {
      list: {
        path: PATH,
        requestStream: false,
        responseStream: false,
        requestSerialize: asIs,
        requestDeserialize: asIs,
        responseSerialize: asIs,
        responseDeserialize: asIs,
      },
    },
    {
      list: (_call: unknown, answer: sendUnaryData<Buffer>) => {
        list().then(
          (bytes) => answer(null, bytes),
          (error: Error) => answer(error),
        );
      },
    },
  );
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
    if (error !== null) throw error;
    process.stdout.write(`${JSON.stringify({ port })}\n`);
  });
}

function front(backPort: string): void {
  const client = new Client(`127.0.0.1:${backPort}`, credentials.createInsecure());
  const app = express();
  app.get('/conversations', (_request, response, next) => {
    client.makeUnaryRequest(PATH, asIs, asIs, Buffer.alloc(0), (error, bytes) => {
      if (error !== null) next(error);
      else response.type('json').send(bytes);
    });
  });
  const server = app.listen(0, '127.0.0.1', () => {
    process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
  });
}

const [role, argument = ''] = process.argv.slice(2);
if (role === 'back') back(argument);
else front(argument);
process.once('SIGTERM', () => process.exit(0));
