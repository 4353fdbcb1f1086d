import type { SqlExecutor } from '@dak/platform/postgres';
import { IDEMPOTENCY_HOURS, type AnswerKey, type StoredAnswer } from './stored-answer';

interface AnswerRow {
  credential_id: string;
  route: string;
  key: string;
  request_hash: string;
  response_id: string;
  response_version: number;
  response_json: string;
}

/** Also of mixed keys, such as the route of one with the key of another; `answersOf` leaves those out. */
const SELECT = `
  select r.principal_id as credential_id, r.route, r.key, r.request_hash, r.response_id, r.response_version,
         r.response_json
    from idempotency_record r
   where r.organization_id = $1 and r.principal_id = any($2::uuid[]) and r.route = any($3::text[])
     and r.key = any($4::text[])
     and r.created_at > now() - make_interval(hours => ${IDEMPOTENCY_HOURS})`;

/** Locks free scopes until the transaction ends. @returns the locked scopes */
export async function lockKeys(tx: SqlExecutor, scopes: readonly string[]): Promise<Set<string>> {
  if (scopes.length === 0) return new Set();
  const { rows } = await tx.query<{ scope: string; is_locked: boolean }>(
    `select scope, pg_try_advisory_xact_lock(hashtextextended(scope, 0)) as is_locked
       from unnest($1::text[]) as scope`,
    [scopes],
  );
  return new Set(rows.filter((row) => row.is_locked).map((row) => row.scope));
}

/** Those of `keys`, which are of one organization, by scope. */
export async function selectAnswers(
  tx: SqlExecutor,
  keys: readonly AnswerKey[],
): Promise<Map<string, StoredAnswer>> {
  if (keys.length === 0) return new Map<string, StoredAnswer>();
  const { rows } = await tx.query<AnswerRow>(SELECT, [
    keys[0]!.organizationId,
    [...new Set(keys.map(({ credentialId }) => credentialId))],
    [...new Set(keys.map(({ route }) => route))],
    [...new Set(keys.map(({ key }) => key))],
  ]);
  return new Map(answersOf(rows, keys).map((answer) => [answer.scope, answer]));
}

function answersOf(rows: readonly AnswerRow[], keys: readonly AnswerKey[]): StoredAnswer[] {
  return rows.flatMap((row) => {
    const key = keys.find(
      (one) =>
        one.credentialId === row.credential_id && one.route === row.route && one.key === row.key,
    );
    if (key === undefined) return [];
    const document = {
      id: row.response_id,
      version: row.response_version,
      json: Buffer.from(row.response_json, 'utf8'),
      replayed: true,
    };
    return [{ ...key, requestHash: row.request_hash, document }];
  });
}

export async function insertAnswers(
  tx: SqlExecutor,
  answers: readonly StoredAnswer[],
): Promise<void> {
  if (answers.length === 0) return;
  await tx.query(
    `insert into idempotency_record
            (organization_id, principal_id, route, key, request_hash, response_id, response_version, response_json, created_at)
     select a.organization_id, a.principal_id, a.route, a.key, a.request_hash, a.response_id, a.response_version,
            a.response_json, now()
       from json_populate_recordset(null::idempotency_record, $1) a
         on conflict (organization_id, principal_id, route, key)
         do update set request_hash = excluded.request_hash, response_id = excluded.response_id,
                       response_version = excluded.response_version, response_json = excluded.response_json,
                       created_at = excluded.created_at`,
    [
      JSON.stringify(
        answers.map(({ document, ...answer }) => ({
          organization_id: answer.organizationId,
          principal_id: answer.credentialId,
          route: answer.route,
          key: answer.key,
          request_hash: answer.requestHash,
          response_id: document.id,
          response_version: document.version,
          response_json: document.json.toString('utf8'),
        })),
      ),
    ],
  );
}
