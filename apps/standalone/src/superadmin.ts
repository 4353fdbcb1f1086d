import { resetSuperadmin } from '@dak/gateway';
import { InvalidError } from '@dak/kernel';
import { readConfig } from '@dak/platform/config';
import { runningEmbeddedPostgres } from '@dak/platform/embedded-postgres';

const USAGE = `Usage: npm run --silent superadmin -- reset

Gives the superadmin another password while Dak runs, and ends their sessions. Prints {email, password} as one line of
JSON. Where: DAK_GATEWAY_DATABASE_URL, or DAK_DATABASE_URL, or the Dak that runs on DAK_DATA_DIR.`;

function gatewayDatabaseUrl(): string {
  const config = readConfig(
    ['DAK_GATEWAY_DATABASE_URL', 'DAK_DATABASE_URL', 'DAK_DATA_DIR'],
    process.env,
  );
  if (config.DAK_GATEWAY_DATABASE_URL !== undefined) return config.DAK_GATEWAY_DATABASE_URL;
  const adminUrl = config.DAK_DATABASE_URL ?? runningEmbeddedPostgres(config.DAK_DATA_DIR);
  if (adminUrl === null) {
    throw new InvalidError(
      `No Dak runs on ${config.DAK_DATA_DIR}: start it, or set DAK_DATABASE_URL.`,
      'no_running_dak',
    );
  }
  const url = new URL(adminUrl);
  url.pathname = '/dak_gateway';
  return url.toString();
}

async function main(args: readonly string[]): Promise<void> {
  if (args.length !== 1 || args[0] !== 'reset') throw new InvalidError(USAGE, 'usage');
  process.stdout.write(`${JSON.stringify(await resetSuperadmin(gatewayDatabaseUrl()))}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
});
