import type {
  ForgottenMail,
  PutOperationsRequest,
  PutOrganizationRequest,
  PutUserRequest,
} from '@dak/contracts/tenant';
import type { Database, SqlExecutor } from '@dak/platform/postgres';

/** Called once the transaction is committed. */
type AfterCommit = (() => void) | undefined;

/** Called after each part of an erasure; `isDone` once no row is left. @returns what was removed besides rows */
type AfterErasure =
  | ((isDone: boolean) => Promise<{ blobs: number; bytes: number; more: boolean } | undefined>)
  | undefined;

/** A switch of the whole deployment, in the column of that name of the service's table `operations`. */
export interface StopSwitch {
  name: Exclude<keyof PutOperationsRequest, 'version'>;
  onSwitched: () => void;
}

/**
 * What a service does, beside storing it, with each announcement of the gateway. Nothing is optional: a service that
 * leaves something unanswered does not compile. See {@link nothingToDo}.
 */
export interface TenantDirectoryParts {
  database: Database;
  /** In the transaction that stores the organization. `isNews` unless this version or a later one was known. */
  onOrganization: (
    tx: SqlExecutor,
    organization: PutOrganizationRequest,
    known: { isFirst: boolean; isNews: boolean },
  ) => Promise<AfterCommit>;
  /** In the transaction that stores a person whose role, activity or departments changed. */
  onPerson: (tx: SqlExecutor, person: PutUserRequest) => Promise<AfterCommit>;
  /** Stops everything the key created; called more than once. */
  onKeyEnd: (tx: SqlExecutor, organizationId: string, keyId: string) => Promise<AfterCommit>;
  /** null = the service does nothing that people stop. */
  stopSwitch: StopSwitch | null;
  /** Removes some copies of old events and of mail that is gone; null = the service keeps none. */
  forget:
    | ((
        tx: SqlExecutor,
        organizationId: string,
        what: { before: string | null; removed: readonly ForgottenMail[] },
      ) => Promise<{ events: number; more: boolean }>)
    | null;
  /** In a transaction before rows of an erased organization go, which needs nothing from the service. */
  onErase: (tx: SqlExecutor, organizationId: string) => Promise<AfterErasure>;
}

/** The answer of a service that an announcement does not concern. */
export function nothingToDo(): Promise<undefined> {
  return Promise.resolve(undefined);
}
