/**
 * What adding the ledger changes in files that are there: `[after, added]` pairs, the added text follows the first
 * occurrence of the other, or is made from it.
 */
export const EDITS = {
  'libs/platform/config/src/services.ts': [[`'mail', 'webhook'`, `, 'ledger'`]],
  'libs/contracts/src/rights/rights-table.ts': [
    [
      `'PATCH /admin/operations': PLATFORM,\n`,
      `  'POST /ledger/entries': { scopes: ['mail.write'], holder: 'organization' },\n`,
    ],
  ],
  'apps/gateway/src/backends.ts': [
    [`from './backend/backend';\n`, `import { ledgerService } from './ledger/ledger-service';\n`],
    [
      `    webhook: webhookService(channels.webhook),\n`,
      `    ledger: ledgerService(channels.ledger),\n`,
    ],
  ],
  'apps/gateway/README.md': [
    [
      row('webhooks/'),
      `| \`ledger/\` | routes of the ledger, and its part of the gateway's backend |\n`,
    ],
  ],
  'apps/standalone/src/service.ts': [
    [
      `from '@dak/gateway';\n`,
      `import { createLedgerRetention, createLedgerService } from '@dak/ledger';\n`,
    ],
    [
      `    allow: config.DAK_WEBHOOK_ALLOW,\n  });\n`,
      `  const ledger = createLedgerService({
    databaseUrl: databases.ledger,
    log,
    logger: loggerOf('ledger'),
    metrics,
  });\n`,
    ],
    [`  const services = { mail, webhook`, `, ledger`],
    [
      `    webhook: createWebhookRetention({ databaseUrl: databases.webhook }),\n`,
      `    ledger: createLedgerRetention({ databaseUrl: databases.ledger }),\n`,
    ],
  ],
  'docs/operating.md': ['DATABASE_URL', 'GRPC_URL', 'GRPC_PORT'].map((what) => [
    row(`DAK_WEBHOOK_${what}`),
    (found) => found.replaceAll('WEBHOOK', 'LEDGER').replaceAll('webhook', 'ledger'),
  ]),
  'docs/rights.md': [
    [
      row('PATCH /admin/operations'),
      `| \`POST /ledger/entries\` | mail.write |  |  | organization |  |  |\n`,
    ],
  ],
  'docs/architecture.md': [
    [
      row('apps/webhook'),
      `| \`apps/ledger\` | amounts that organizations note | \`dak.ledger.v1\` |\n`,
    ],
  ],
};

/** The row of a table that begins with this name. */
function row(name) {
  return new RegExp(`^\\| \`${name.replaceAll('/', '\\/')}\` .*\\n`, 'm');
}
