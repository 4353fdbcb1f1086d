/**
 * The program that the list of conversations is compared with: Express and pg, nothing else. It runs
 * the statements it is given (prepared, through a pool) and answers with their rows. No credential, no
 * tenant transaction, no limits, no validation, no rendering of the public record.
 *
 * `baseline-express STATEMENTS.json` prints `{"port": …}`.
 */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Pool } from 'pg';

interface Work {
  url: string;
  statements: { text: string; values: (string | null)[] }[];
}

const { url, statements } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Work;
const pool = new Pool({ connectionString: url, max: 8 });
const prepared = statements.map((statement, index) => ({ ...statement, name: `list_${index}` }));

const app = express();
app.get('/conversations', async (_request, response) => {
  const [page, total] = await Promise.all(prepared.map((statement) => pool.query(statement)));
  response.json({
    data: page!.rows.slice(0, 25),
    page: 1,
    per_page: 25,
    total: Number((total?.rows[0] as { total: number } | undefined)?.total ?? 0),
    has_more: page!.rows.length > 25,
  });
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
