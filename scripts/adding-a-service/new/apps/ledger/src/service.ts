import type { Registry } from 'prom-client';
import { LedgerServiceService } from '@dak/contracts/ledger';
import { systemClock, type Clock } from '@dak/kernel';
import { createIdempotencySweeper } from '@dak/platform/idempotency';
import { OutboxRelay, registerOutboxMetrics, type Log } from '@dak/platform/log';
import { failureReport, type Logger } from '@dak/platform/logging';
import { Database, Models } from '@dak/platform/postgres';
import type { Service } from '@dak/platform/service-process';
import {
  connectedRegistry,
  createTenantHandlers,
  nothingToDo,
  openDirectoryAlone,
  type DirectoryAlone,
  type TenantDirectoryParts,
} from '@dak/platform/tenant-directory';
import { createEntry } from './entries/create-entry';
import { PrismaClient } from './generated/prisma/client';

export interface LedgerServiceOptions {
  /** `dak_ledger` under its runtime role, migrated. */
  databaseUrl: string;
  /** Closed by whoever opened it. */
  log: Log;
  logger: Logger;
  metrics: Registry;
  clock?: Clock;
}

export function createLedgerService(options: LedgerServiceOptions): Service {
  const { log, logger, metrics } = options;
  const database = new Database({
    url: options.databaseUrl,
    applicationName: 'dak ledger',
    metrics,
  });
  const relay = new OutboxRelay({
    source: database,
    channel: log.openRelay('ledger'),
    onError: failureReport(logger, 'events could not be moved to the log; it is tried again'),
  });
  registerOutboxMetrics(metrics, 'ledger', relay);
  const answers = createIdempotencySweeper({
    database,
    onError: failureReport(logger, 'old answers were not removed'),
  });
  const models = new Models(database, (adapter) => new PrismaClient({ adapter }));
  const deps = { models, clock: options.clock ?? systemClock };
  const registry = connectedRegistry(createTenantHandlers(ledgerTenants(database)));
  registry.register(LedgerServiceService, {
    createEntry: (request, context) => createEntry(deps, request, context),
  });
  return {
    registry,
    async start() {
      relay.start();
      answers.start();
    },
    async ready() {
      await database.ping();
    },
    async stop() {
      await answers.stop();
      await relay.stop();
      await database.close();
    },
  };
}

/** What of the ledger removes what is kept no longer, by itself. */
export function createLedgerRetention(options: { databaseUrl: string }): DirectoryAlone {
  return openDirectoryAlone(options.databaseUrl, ledgerTenants);
}

function ledgerTenants(database: Database): TenantDirectoryParts {
  return {
    database,
    onOrganization: nothingToDo,
    onPerson: nothingToDo,
    onKeyEnd: nothingToDo,
    stopSwitch: null,
    forget: null,
    onErase: nothingToDo,
  };
}
