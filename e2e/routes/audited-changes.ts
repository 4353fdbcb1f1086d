/** Why a route that may change something leaves no entry in the audit log of the organization. */
type Reason =
  /** Work on mail: the append-only activity of the conversation has it, and the record its author. */
  | 'activity'
  /** Seen by whoever works on it alone, until it is sent. */
  | 'draft'
  /** Changes nothing that lasts. */
  | 'reading'
  /** The plain request of the tests finds everything as it asks for; its own suite sees the entries. */
  | 'unchanged';

export type AuditedChange =
  { action: string; why?: undefined } | { action?: undefined; why: Reason };

const noted = (action: string): AuditedChange => ({ action });
const activity: AuditedChange = { why: 'activity' };
const draft: AuditedChange = { why: 'draft' };
const reading: AuditedChange = { why: 'reading' };
const unchanged: AuditedChange = { why: 'unchanged' };
const C = '/api/v1/conversations/{id}';

/** Every route that is no GET, and reads that are exports: what they leave in the audit log. */
const CHANGES: Readonly<Record<string, AuditedChange>> = {
  'POST /api/v1/mailboxes': noted('mailbox.created'),
  'PATCH /api/v1/mailboxes/{id}': noted('mailbox.updated'),
  'DELETE /api/v1/mailboxes/{id}': noted('mailbox.deleted'),
  'POST /api/v1/mailboxes/{id}/restore': noted('mailbox.restored'),
  'PUT /api/v1/mailboxes/{id}/assignments': noted('mailbox.assigned'),
  'POST /api/v1/mailboxes/{id}/imports': noted('import.started'),
  [`GET ${C}/messages/{mid}/raw`]: noted('message.raw_read'),

  [`PATCH ${C}`]: activity,
  [`POST ${C}/labels`]: activity,
  [`POST ${C}/snooze`]: activity,
  [`DELETE ${C}/snooze`]: activity,
  [`POST ${C}/assign`]: activity,
  [`POST ${C}/merge`]: activity,
  [`POST ${C}/split`]: activity,
  [`POST ${C}/notes`]: activity,
  [`POST ${C}/reply`]: activity,
  [`POST ${C}/forward`]: activity,
  'POST /api/v1/conversations/bulk': activity,
  'POST /api/v1/compose/send': activity,
  'PATCH /api/v1/outbox/{id}': activity,
  'DELETE /api/v1/outbox/{id}': activity,

  'POST /api/v1/drafts': draft,
  'PATCH /api/v1/drafts/{id}': draft,
  'DELETE /api/v1/drafts/{id}': draft,
  'POST /api/v1/drafts/{id}/send': activity,
  'POST /api/v1/attachments': draft,
  'POST /api/v1/attachments/uploads': draft,
  'POST /api/v1/attachments/from-message': draft,
  'DELETE /api/v1/attachments/{token}': draft,
  'PUT /api/public/uploads/{ticket}': draft,

  'POST /api/v1/search': reading,
  'POST /api/v1/compose/preview': reading,
  'POST /api/v1/templates/{id}/preview': reading,
  'POST /api/v1/rules/test': reading,
  'POST /api/v1/rules/dry-run': reading,
  'POST /api/v1/webhooks/{id}/test': reading,
  'POST /api/v1/auth/refresh': reading,

  'POST /api/v1/labels': noted('label.created'),
  'PATCH /api/v1/labels/{id}': noted('label.updated'),
  'DELETE /api/v1/labels/{id}': noted('label.deleted'),
  'POST /api/v1/signatures': noted('signature.created'),
  'PATCH /api/v1/signatures/{id}': noted('signature.updated'),
  'DELETE /api/v1/signatures/{id}': noted('signature.deleted'),
  'POST /api/v1/templates': noted('template.created'),
  'PATCH /api/v1/templates/{id}': noted('template.updated'),
  'DELETE /api/v1/templates/{id}': noted('template.deleted'),
  'POST /api/v1/rules': noted('rule.created'),
  'PATCH /api/v1/rules/{id}': noted('rule.updated'),
  'DELETE /api/v1/rules/{id}': noted('rule.deleted'),
  'POST /api/v1/webhooks': noted('webhook.created'),
  'PATCH /api/v1/webhooks/{id}': noted('webhook.updated'),
  'DELETE /api/v1/webhooks/{id}': noted('webhook.deleted'),
  'POST /api/v1/webhooks/{id}/rotate-secret': noted('webhook.secret_rotated'),
  'POST /api/v1/webhooks/{id}/deliveries/{did}/retry': noted('webhook.delivery_retried'),
  'POST /api/v1/webhooks/{id}/replay': noted('webhook.replay_started'),
  'PUT /api/v1/settings/webhook-secret': noted('webhook_secret.replaced'),

  'POST /api/v1/auth/login': noted('session.login'),
  'POST /api/v1/auth/logout': noted('session.logout'),
  'POST /api/v1/auth/accept-invite': noted('invite.accepted'),
  'POST /api/v1/settings/users': noted('user.created'),
  'PATCH /api/v1/settings/users/{id}': noted('user.updated'),
  'POST /api/v1/settings/users/{id}/invite': noted('user.invited'),
  'POST /api/v1/settings/api-keys': noted('api_key.created'),
  'DELETE /api/v1/settings/api-keys/{id}': noted('api_key.revoked'),
  'POST /api/v1/departments': noted('department.created'),
  'PATCH /api/v1/departments/{id}': noted('department.updated'),
  'PUT /api/v1/departments/{id}/members': noted('department.members_changed'),
  'DELETE /api/v1/departments/{id}': noted('department.deleted'),
  'PATCH /api/v1/settings/organization': noted('organization.updated'),
  'PATCH /api/v1/auth/password': noted('user.password_changed'),
  'DELETE /api/v1/auth/sessions/{id}': noted('session.ended'),
  'POST /api/v1/domains': noted('domain.created'),
  'DELETE /api/v1/domains/{id}': noted('domain.deleted'),
  'POST /api/v1/domains/{id}/verify': unchanged,
  'PATCH /api/v1/admin/operations': noted('operations.updated'),
  'PUT /api/v1/admin/organizations/{id}/domains': unchanged,
  'POST /api/v1/admin/organizations': noted('organization.created'),
  'PATCH /api/v1/admin/organizations/{id}': noted('organization.administered'),
  'POST /api/v1/admin/organizations/{id}/erase': noted('organization.erased'),
};

/** @throws Error for a route about which nobody decided: add it above */
export function auditedChange(name: string): AuditedChange {
  const change = CHANGES[name];
  if (change === undefined) throw new Error(`What does ${name} leave in the audit log?`);
  return change;
}

export function auditedRouteNames(): string[] {
  return Object.keys(CHANGES);
}
