import type { TenantDirectoryServiceService } from '@dak/contracts/tenant';
import { uuidv7 } from '@dak/kernel';
import type { CallOptions, Client } from '@dak/platform/grpc';

/** A service, as far as it hears of organizations and people. */
export type TenantDirectory = Client<typeof TenantDirectoryServiceService, CallOptions>;

const WITHIN_MS = 10_000;

/** Resolves once every service has heard. @throws the first failure */
export async function tellEach(
  directories: readonly TenantDirectory[],
  tell: (directory: TenantDirectory, call: CallOptions) => Promise<unknown>,
): Promise<void> {
  const call = (): CallOptions => ({
    principal: null,
    requestId: `announce-${uuidv7()}`,
    deadline: Date.now() + WITHIN_MS,
  });
  await Promise.all(directories.map((directory) => tell(directory, call())));
}
