import type { Right } from './right';

const SETTINGS = { scopes: ['admin.manage'], role: 'admin', holder: 'organization' } as const;
const OWN_SESSION = { scopes: 'credential', session: true, holder: 'self' } as const;
const PLATFORM = {
  scopes: 'credential',
  role: 'superadmin',
  session: true,
  holder: 'platform',
} as const;
const READ = { scopes: ['mail.read'], holder: 'mailbox', level: 'read' } as const;
const WRITE = { scopes: ['mail.write'], holder: 'mailbox', level: 'write' } as const;
const SEND = { scopes: ['mail.send'], holder: 'mailbox', level: 'send' } as const;
const OWN_UPLOAD = { scopes: ['mail.send'], holder: 'self' } as const;
const DRAFT_READ = { ...READ, scopes: ['mail.read', 'mail.write'] } as const;
const MAILBOX_READ = { ...READ, scopes: ['mail.read', 'mailboxes.manage'] } as const;
const MAILBOX_MANAGE = { scopes: ['mailboxes.manage'], holder: 'mailbox', level: 'send' } as const;
const SIGNATURE = {
  ...WRITE,
  scopes: ['mail.write', 'brand.manage'],
  condition: 'A signature of the whole organization needs brand.manage.',
} as const;
const LABEL = { scopes: ['mail.write'], role: 'admin', holder: 'organization' } as const;
const RELEASE = 'Only admins with admin.manage take the label legal-hold away.';
const TEMPLATE = { scopes: ['templates.manage'], holder: 'organization' } as const;
const TEMPLATE_CHANGE = { ...TEMPLATE, holder: 'author' } as const;
const RULE = { scopes: ['rules.manage'], holder: 'maker' } as const;
const RUN_CONDITION = 'What the mail has (`actual`) is shown with mail.read and null without.';
const WEBHOOK = { scopes: ['webhooks.manage'], holder: 'maker' } as const;
const DOMAIN = { scopes: ['domains.manage'], role: 'admin', holder: 'organization' } as const;
const WEBHOOK_CONDITION =
  'Needs mail.read unless event_types names only agent.action and domain.verified.';
const DEPARTMENT = { scopes: ['departments.manage'], holder: 'organization' } as const;
const REPORT = { scopes: ['reports.read'], holder: 'organization' } as const;

/**
 * Who may do what: one row for every action, by method and path as the route states them. Routes take
 * their access from here and nowhere else, `/capabilities`, the OpenAPI document, docs/rights.md and the
 * matrix of the tests are made from it, and an action without a row does not compile.
 */
export const RIGHTS = {
  'GET /': { scopes: ['api.meta'], holder: 'self' },
  'GET /capabilities': { scopes: ['api.meta'], holder: 'self' },
  'GET /openapi.json': { scopes: 'public', holder: 'everybody' },
  'GET /docs': { scopes: 'public', holder: 'everybody' },
  'GET /docs/{file}': { scopes: 'public', holder: 'everybody' },

  'POST /auth/login': { scopes: 'public', holder: 'secret' },
  'POST /auth/refresh': { scopes: 'public', holder: 'secret' },
  'POST /auth/logout': { scopes: 'public', holder: 'secret' },
  'POST /auth/accept-invite': { scopes: 'public', holder: 'secret' },
  'PATCH /auth/password': OWN_SESSION,
  'GET /auth/sessions': OWN_SESSION,
  'DELETE /auth/sessions/{id}': OWN_SESSION,

  'GET /mailboxes': MAILBOX_READ,
  'POST /mailboxes': { scopes: ['mailboxes.manage'], holder: 'organization' },
  'GET /mailboxes/{id}': MAILBOX_READ,
  'PATCH /mailboxes/{id}': MAILBOX_MANAGE,
  'DELETE /mailboxes/{id}': MAILBOX_MANAGE,
  'POST /mailboxes/{id}/restore': MAILBOX_MANAGE,
  'GET /mailboxes/{id}/assignments': { ...MAILBOX_MANAGE, level: 'read' },
  'PUT /mailboxes/{id}/assignments': MAILBOX_MANAGE,
  'GET /mailboxes/{id}/connection': { ...MAILBOX_MANAGE, level: 'read' },
  'POST /mailboxes/{id}/imports': { ...MAILBOX_MANAGE, level: 'write' },
  'GET /imports/{id}': { ...MAILBOX_MANAGE, level: 'read' },

  'GET /conversations': READ,
  'GET /conversations/{id}': READ,
  'PATCH /conversations/{id}': WRITE,
  'POST /conversations/{id}/labels': { ...WRITE, condition: RELEASE },
  'POST /conversations/{id}/snooze': WRITE,
  'DELETE /conversations/{id}/snooze': WRITE,
  'POST /conversations/{id}/assign': WRITE,
  'POST /conversations/{id}/merge': WRITE,
  'POST /conversations/{id}/split': WRITE,
  'POST /conversations/bulk': { ...WRITE, condition: RELEASE },
  'GET /conversations/{id}/messages': READ,
  'GET /conversations/{id}/messages/{mid}': READ,
  'GET /conversations/{id}/messages/{mid}/raw': READ,
  'GET /conversations/{id}/messages/{mid}/attachments/{aid}': READ,
  'POST /conversations/{id}/notes': WRITE,
  'GET /conversations/{id}/activity': READ,
  'GET /conversations/{id}/rule-runs': {
    scopes: ['rules.manage'],
    holder: 'mailbox',
    level: 'read',
    condition: RUN_CONDITION,
  },
  'POST /conversations/{id}/reply': SEND,
  'POST /conversations/{id}/forward': SEND,
  'POST /search': READ,

  'GET /labels': { scopes: ['mail.read'], holder: 'organization' },
  'POST /labels': LABEL,
  'PATCH /labels/{id}': { ...LABEL, condition: RELEASE },
  'DELETE /labels/{id}': { ...LABEL, condition: RELEASE },

  'POST /compose/send': SEND,
  'POST /compose/preview': SEND,
  'GET /drafts': DRAFT_READ,
  'POST /drafts': WRITE,
  'GET /drafts/{id}': DRAFT_READ,
  'PATCH /drafts/{id}': WRITE,
  'DELETE /drafts/{id}': WRITE,
  'POST /drafts/{id}/send': SEND,
  'GET /outbox': SEND,
  'GET /outbox/{id}': SEND,
  'PATCH /outbox/{id}': SEND,
  'DELETE /outbox/{id}': SEND,

  'POST /attachments': OWN_UPLOAD,
  'POST /attachments/uploads': OWN_UPLOAD,
  'POST /attachments/from-message': { ...SEND, level: 'read' },
  'DELETE /attachments/{token}': OWN_UPLOAD,
  'PUT /api/public/uploads/{ticket}': { scopes: 'public', holder: 'secret' },
  'GET /api/public/attachments/{ticket}': { scopes: 'public', holder: 'secret' },

  'GET /signatures': { ...READ, scopes: ['mail.read', 'mail.write', 'brand.manage'] },
  'POST /signatures': SIGNATURE,
  'PATCH /signatures/{id}': SIGNATURE,
  'DELETE /signatures/{id}': SIGNATURE,

  'GET /templates': TEMPLATE,
  'POST /templates': TEMPLATE,
  'GET /templates/{id}': TEMPLATE,
  'PATCH /templates/{id}': TEMPLATE_CHANGE,
  'DELETE /templates/{id}': TEMPLATE_CHANGE,
  'POST /templates/{id}/preview': TEMPLATE,
  'GET /templates/{id}/versions': TEMPLATE,
  'GET /templates/{id}/versions/{version}': TEMPLATE,

  'GET /rules': RULE,
  'POST /rules': RULE,
  'GET /rules/{id}': RULE,
  'PATCH /rules/{id}': RULE,
  'DELETE /rules/{id}': RULE,
  'GET /rules/{id}/versions': RULE,
  'GET /rules/{id}/runs': { ...RULE, condition: RUN_CONDITION },
  'POST /rules/test': { ...RULE, also: ['mail.read'] },
  'POST /rules/dry-run': RULE,
  'GET /rules/dry-run/{id}': {
    ...RULE,
    condition:
      '`samples` are shown with mail.read and empty without; the numbers are shown either way.',
  },

  'GET /events/stream': { scopes: ['mail.read'], holder: 'mailbox', level: 'read' },
  'GET /webhooks/event-types': { scopes: ['webhooks.manage'], holder: 'everybody' },
  'GET /webhooks': WEBHOOK,
  'POST /webhooks': { ...WEBHOOK, condition: WEBHOOK_CONDITION },
  'GET /webhooks/{id}': WEBHOOK,
  'PATCH /webhooks/{id}': { ...WEBHOOK, condition: WEBHOOK_CONDITION },
  'DELETE /webhooks/{id}': WEBHOOK,
  'POST /webhooks/{id}/rotate-secret': WEBHOOK,
  'POST /webhooks/{id}/test': WEBHOOK,
  'GET /webhooks/{id}/deliveries': WEBHOOK,
  'GET /webhooks/{id}/deliveries/{did}': {
    ...WEBHOOK,
    condition: '`body` is shown with mail.read and null without.',
  },
  'GET /webhooks/{id}/deliveries/{did}/attempts': WEBHOOK,
  'POST /webhooks/{id}/deliveries/{did}/retry': WEBHOOK,
  'POST /webhooks/{id}/replay': WEBHOOK,
  'GET /webhooks/{id}/replays/{rid}': WEBHOOK,

  'GET /analytics/overview': { scopes: ['analytics.read'], holder: 'organization' },
  'GET /reports/volume': REPORT,
  'GET /reports/response-times': REPORT,
  'GET /reports/deliverability': REPORT,
  'GET /reports/workload': REPORT,
  'GET /audit': REPORT,
  'GET /audit/verify': { ...REPORT, role: 'admin' },

  'GET /domains': DOMAIN,
  'POST /domains': DOMAIN,
  'GET /domains/{id}': DOMAIN,
  'DELETE /domains/{id}': DOMAIN,
  'POST /domains/{id}/verify': DOMAIN,

  'GET /departments': DEPARTMENT,
  'POST /departments': DEPARTMENT,
  'GET /departments/{id}': DEPARTMENT,
  'PATCH /departments/{id}': DEPARTMENT,
  'PUT /departments/{id}/members': DEPARTMENT,
  'DELETE /departments/{id}': DEPARTMENT,

  'GET /settings/users': SETTINGS,
  'POST /settings/users': {
    ...SETTINGS,
    // A key that could make persons with more rights than its own would be worth all of them.
    sessionMembers: [{ member: 'password' }, { member: 'role', unless: 'user' }],
    condition: 'A password, and a role other than user, need a session.',
  },
  'GET /settings/users/{id}': SETTINGS,
  'PATCH /settings/users/{id}': {
    ...SETTINGS,
    sessionMembers: [{ member: 'role' }],
    condition: 'A role needs a session.',
  },
  'POST /settings/users/{id}/invite': { ...SETTINGS, session: true },
  'GET /settings/api-keys': SETTINGS,
  'POST /settings/api-keys': SETTINGS,
  'GET /settings/api-keys/{id}': SETTINGS,
  'DELETE /settings/api-keys/{id}': SETTINGS,
  'GET /settings/organization': SETTINGS,
  'PATCH /settings/organization': {
    ...SETTINGS,
    condition: 'A shorter retention_days needs mail.write too.',
  },
  'GET /settings/webhook-secret': SETTINGS,
  'PUT /settings/webhook-secret': SETTINGS,

  'GET /admin/organizations': PLATFORM,
  'POST /admin/organizations': PLATFORM,
  'GET /admin/organizations/{id}': PLATFORM,
  'PATCH /admin/organizations/{id}': PLATFORM,
  'PUT /admin/organizations/{id}/domains': PLATFORM,
  'POST /admin/organizations/{id}/erase': PLATFORM,
  'GET /admin/organizations/{id}/erase': PLATFORM,
  'GET /admin/operations': PLATFORM,
  'PATCH /admin/operations': PLATFORM,
} as const satisfies Readonly<Record<string, Right>>;

/** Method and path, as in `GET /conversations/{id}`. */
export type Action = keyof typeof RIGHTS;
