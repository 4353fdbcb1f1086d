import type { Announcement } from './announcer';

/** The switches of the whole deployment, as the services have to know them. */
export interface OperationsState {
  outgoing: 'run' | 'hold';
  webhooks: 'run' | 'hold';
  /** Grows with every change. */
  version: number;
}

export type AnnounceOperations = (state: OperationsState) => Promise<void>;

/** They belong to no organization. */
const PENDING = `
  select outgoing, webhooks, version
    from operations
   where announced_version <> version
     and $1::uuid is null`;

const ANNOUNCED = `
  update operations
     set announced_version = $1
   where announced_version < $1`;

export function operationsAnnouncement(
  announce: AnnounceOperations,
): Announcement<OperationsState> {
  return { pending: PENDING, announced: ANNOUNCED, keyOf: () => [], announce };
}
