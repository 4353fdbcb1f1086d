import { Client } from 'pg';
import type { BenchRun } from './bench-run';
import { databaseUrl } from './postgres-cluster';
import { runProgram } from './programs';

/** A tenant of believable size and one of its regular users, who can sign in. */
export interface SeededTenant {
  readonly organizationId: string;
  readonly email: string;
}

interface Seed {
  organizationId: string;
  userIds: string[];
}

export const ADMIN_EMAIL = 'admin@dak.example';

/**
 * Fills the mail service's database and makes the tenant known to the gateway: its users get the
 * password of the first administrator.
 */
export async function seedTenant(
  run: BenchRun,
  adminUrl: string,
  options: { conversations: number; messages: number; mailboxes: number },
): Promise<SeededTenant> {
  const seed = await runProgram<Seed>(run, 'apps/mail/bench/seed-conversations.bench.ts', [
    databaseUrl(adminUrl, 'dak_mail'),
    JSON.stringify({ ...options, users: 1, mailboxesPerUser: 20 }),
  ]);
  const email = `user-${seed.organizationId}@bench.example`;
  const client = new Client({ connectionString: databaseUrl(adminUrl, 'dak_gateway') });
  await client.connect();
  try {
    await client.query(
      `insert into organization (id, name, announced_version) values ($1, 'Bench', 1)`,
      [seed.organizationId],
    );
    await client.query(
      `insert into user_account (organization_id, id, email, display_name, role, password_hash)
       select $1, $2, $3, 'Bench', 'user', password_hash from user_account where email = $4`,
      [seed.organizationId, seed.userIds[0], email, ADMIN_EMAIL],
    );
  } finally {
    await client.end();
  }
  return { organizationId: seed.organizationId, email };
}

/** A session token: 15 minutes. @throws Error when the gateway refuses */
export async function signIn(baseUrl: string, email: string, password: string): Promise<string> {
  const response = await fetch(`${baseUrl}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  if (!response.ok) throw new Error(`login: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { access_token: string }).access_token;
}
