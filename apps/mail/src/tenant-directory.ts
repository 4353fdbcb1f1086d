import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import type { Database } from '@dak/platform/postgres';
import { nothingToDo, type TenantDirectoryParts } from '@dak/platform/tenant-directory';
import { grantFirstDomains } from './domains/put-domains';
import { saveMailSettings } from './mailboxes/organizations/mail-settings-store';
import { unlessBackedUp } from './retention/sweep-blobs';
import { endRulesOfKey } from './rules/definition/end-key';

/** Before checking again whether a backup still copies blobs. */
const BACKUP_WAIT_MS = 2_000;

/** Handles the gateway's announcements in the mail service. */
export function mailTenants(deps: {
  database: Database;
  blobs: BlobStore;
  clock: Clock;
  /** Mail that was held may go on. */
  onReleased: () => void;
}): TenantDirectoryParts {
  const { database, blobs, clock, onReleased } = deps;
  return {
    database,
    async onOrganization(tx, organization, { isFirst, isNews }) {
      const { organizationId, firstDomains } = organization;
      if (isNews) await saveMailSettings(tx, organization);
      if (isFirst) await grantFirstDomains(tx, organizationId, firstDomains, clock());
      return onReleased;
    },
    // Rules look up their owners' current permissions on every run.
    onPerson: nothingToDo,
    async onKeyEnd(tx, organizationId, keyId) {
      await endRulesOfKey(tx, organizationId, keyId);
      return undefined;
    },
    stopSwitch: { name: 'outgoing', onSwitched: onReleased },
    // Removed records must also be forgotten by other services.
    forget: null,
    async onErase(_tx, organizationId) {
      return async (isDone) => {
        if (!isDone) return undefined;
        let removed = { blobs: 0, bytes: 0 };
        const isFree = await unlessBackedUp(database, async () => {
          removed = await blobs.removeOrganization(organizationId);
        });
        if (!isFree) await delay(BACKUP_WAIT_MS);
        return { ...removed, more: !isFree };
      };
    },
  };
}
