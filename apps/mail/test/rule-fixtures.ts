import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RuleMatched } from '@dak/contracts/events';
import { RuleDefinition, type Document } from '@dak/contracts/mail';
import { uuidv7, type Clock, type Principal } from '@dak/kernel';
import { FolderBlobStore } from '@dak/platform/blobs';
import type { Database } from '@dak/platform/postgres';
import { createTenantHandlers } from '@dak/platform/tenant-directory';
import type { NewMessage } from '../src/conversations/messages/new-message';
import { recordMessages } from '../src/conversations/messages/record-messages';
import { createRuleCache } from '../src/rules/definition/rule-cache';
import { createRuleHandlers } from '../src/rules/handlers';
import type { Arrival } from '../src/rules/runs/rule-match';
import { runRules, type RunDeps } from '../src/rules/runs/run-rules';
import { mailTenants } from '../src/tenant-directory';
import {
  contextOf,
  newConversationIn,
  newMessage,
  openMailDatabase,
  outboxEvents,
} from './mail-fixtures';

export type Rules = Awaited<ReturnType<typeof openRules>>;

/** Rules on a private database and folder; mail is put before them by hand, without a log. */
export async function openRules(clock: Clock = Date.now) {
  const mail = await openMailDatabase(6);
  const { database } = mail;
  const folder = mkdtempSync(join(tmpdir(), 'dak-rules-'));
  const blobs = await FolderBlobStore.open(folder);
  const deps: RunDeps = {
    database,
    blobs,
    clock,
    rulesOf: createRuleCache(),
    takeSend: async () => undefined,
    onAccepted: () => undefined,
  };
  const dryRunsAsked: number[] = [];
  const handlers = createRuleHandlers({
    database,
    blobs,
    clock,
    cursorKey: new Uint8Array(32).fill(7),
    onDryRun: () => dryRunsAsked.push(1),
  });
  const query = <Row = Record<string, unknown>>(
    organizationId: string,
    text: string,
    values: unknown[] = [],
  ) => database.inTenant(organizationId, async (tx) => (await tx.query<Row>(text, values)).rows);

  /** Stores a message with its original, as the pipeline would; in a conversation of its own unless one is given. */
  const store = async (
    caller: Principal,
    mailboxId: string,
    overrides: Partial<NewMessage> & { raw?: string } = {},
  ): Promise<Arrival & { conversationId: string }> => {
    const { organizationId } = caller;
    const { raw = 'Subject: x\r\n\r\nx\r\n', ...fields } = overrides;
    const [reference] = await blobs.putMany(organizationId, [Buffer.from(raw)]);
    const conversation = fields.conversation ?? (await newConversationIn(database, organizationId));
    const message = newMessage(mailboxId, {
      rawSha256: reference!.sha256,
      messageIdHeader: `${uuidv7()}@customer.example`,
      ...fields,
      conversation,
    });
    await database.inTenant(organizationId, (tx) =>
      recordMessages(tx, organizationId, [message], clock()),
    );
    return {
      eventId: `evt_${uuidv7()}`,
      messageId: message.id,
      mailboxId,
      occurredAt: clock(),
      causationDepth: 0,
      traceparent: null,
      imported: message.imported,
      conversationId: conversation.id,
    };
  };

  return {
    ...mail,
    blobs,
    deps,
    handlers,
    tenants: createTenantHandlers(
      mailTenants({ database, blobs, clock, onReleased: () => undefined }),
    ),
    query,
    store,
    run: (caller: Principal, arrivals: readonly Arrival[]) =>
      runRules(deps, caller.organizationId, arrivals),
    /** As `run`, in a process that dies when all is done but the commit. */
    async runAndDie(caller: Principal, arrivals: readonly Arrival[]) {
      const dying: Pick<Database, 'inTenant'> = {
        inTenant: (organizationId, work) =>
          database.inTenant(organizationId, async (tx) => {
            await work(tx);
            throw new Error('killed');
          }),
      };
      await runRules({ ...deps, database: dying }, caller.organizationId, arrivals);
    },
    /** Stores a message and runs the rules on it. */
    async receive(
      caller: Principal,
      mailboxId: string,
      overrides: Parameters<typeof store>[2] = {},
    ) {
      const arrival = await store(caller, mailboxId, overrides);
      await runRules(deps, caller.organizationId, [arrival]);
      return arrival;
    },
    async create(caller: Principal, fields: RuleFields): Promise<StoredRule> {
      return recordOf<StoredRule>(
        await handlers.createRule({ rule: ruleDefinition(fields) }, contextOf(caller)),
      );
    },
    async conversation(caller: Principal, id: string) {
      const [row] = await query<ConversationState>(
        caller.organizationId,
        `select status, priority, disposition, labels, department_id, assignee_id, assignee_name, snoozed_until, version
           from conversation where id = $1`,
        [id],
      );
      return row!;
    },
    /** Newest first. */
    async runs(caller: Principal, conversationId: string): Promise<StoredRun[]> {
      const page = await handlers.listConversationRuleRuns(
        { conversationId, page: { page: 1, perPage: 100, cursor: '' } },
        contextOf(caller),
      );
      return JSON.parse(page.dataJson.toString()) as StoredRun[];
    },
    async matchedEvents(caller: Principal) {
      const events = await outboxEvents(database, caller.organizationId);
      return events
        .filter(({ type }) => type === 'rule.matched')
        .map((envelope) => ({ envelope, data: RuleMatched.decode(envelope.data) }));
    },
    async sentMail(caller: Principal): Promise<SentMail[]> {
      const rows = await query<{
        id: string;
        kind: string;
        subject: string;
        raw_sha256: string;
        recipients: string[];
        author_type: string;
        author_id: string;
      }>(
        caller.organizationId,
        `select s.id, s.kind, s.subject, s.raw_sha256, s.author_type, s.author_id,
                array(select recipient from delivery d where d.submission_id = s.id order by position) as recipients
           from submission s order by s.id`,
      );
      return Promise.all(
        rows.map(async ({ raw_sha256, ...row }) => ({
          ...row,
          raw: (await blobs.get(caller.organizationId, raw_sha256)).toString('utf8'),
        })),
      );
    },
    close: async () => {
      await mail.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface SentMail {
  id: string;
  kind: string;
  subject: string;
  recipients: string[];
  author_type: string;
  author_id: string;
  raw: string;
}

export interface ConversationState {
  status: string;
  priority: string;
  disposition: string;
  labels: string[];
  department_id: string | null;
  assignee_id: string | null;
  assignee_name: string | null;
  snoozed_until: string | null;
  version: number;
}

export interface StoredRule {
  id: string;
  name: string;
  version: number;
  enabled: boolean;
  conditions: unknown[];
  actions: Record<string, unknown>[];
  created_by: string;
  stats: { evaluated: number; matched: number; last_matched_at: string | null };
}

export interface StoredRun {
  id: string;
  rule_id: string;
  rule_name: string;
  rule_version: number;
  message_id: string;
  matched: boolean;
  conditions: { index: number; expected: unknown; actual: unknown; matched: boolean }[];
  actions: { type: string; outcome: string; error: string | null }[];
}

export interface RuleFields {
  name?: string;
  kind?: string;
  enabled?: boolean;
  priority?: number;
  mailbox_ids?: string[];
  match?: string;
  conditions?: unknown;
  actions?: unknown;
  stop?: boolean;
}

/** A rule as the gateway sends it; everything has the default of the API. */
export function ruleDefinition(fields: RuleFields): RuleDefinition {
  return RuleDefinition.fromPartial({
    name: fields.name ?? 'A rule',
    kind: fields.kind ?? 'automation',
    enabled: fields.enabled ?? true,
    priority: fields.priority ?? 0,
    mailboxIds: fields.mailbox_ids ?? [],
    match: fields.match ?? 'all',
    conditionsJson: Buffer.from(JSON.stringify(fields.conditions ?? [])),
    actionsJson: Buffer.from(
      JSON.stringify(fields.actions ?? [{ type: 'add_labels', labels: ['seen'] }]),
    ),
    stop: fields.stop ?? false,
  });
}

export function recordOf<T>(document: Document): T {
  return JSON.parse(document.json.toString('utf8')) as T;
}
