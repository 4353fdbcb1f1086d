import { readCompleteConfig, type VariableName } from '@dak/platform/config';
import { runUntilStopped } from '@dak/platform/lifecycle';
import {
  SERVICE_NEEDS,
  SERVICE_VARIABLES,
  startServiceProcess,
} from '@dak/platform/service-process';
import { createLedgerService } from './service';

const LEDGER_VARIABLES = [
  ...SERVICE_VARIABLES,
  'DAK_LEDGER_DATABASE_URL',
  'DAK_LEDGER_GRPC_PORT',
] as const satisfies readonly VariableName[];

/** What a ledger of its own cannot do without. */
const NEEDED = {
  ...SERVICE_NEEDS,
  DAK_LEDGER_DATABASE_URL: 'the database that the migration command made',
} as const;

/** The ledger as a process of its own, answering gRPC. */
void runUntilStopped(async () => {
  const config = readCompleteConfig(LEDGER_VARIABLES, NEEDED, process.env);
  return startServiceProcess({
    name: 'ledger',
    config,
    grpcPort: config.DAK_LEDGER_GRPC_PORT,
    environment: process.env,
    create: async (parts) =>
      createLedgerService({ ...parts, databaseUrl: config.DAK_LEDGER_DATABASE_URL }),
  });
});
