import type { Scope } from '@dak/kernel';

/** Whom a record answers to. For everybody else it is as if it were not there (404), unless said otherwise. */
export const HOLDERS = {
  mailbox: 'whoever sees the mailbox it lies in',
  organization: 'everybody of the organization',
  maker: 'whoever made it, and admins',
  author:
    'everybody of the organization to look at, to whoever made it and admins to change (else 403 `missing_access`)',
  self: 'the caller alone',
  platform: 'superadmins',
  secret: 'whoever holds the secret in the request',
  everybody: 'everybody',
} as const;
export type Holder = keyof typeof HOLDERS;

/** What a caller may do in a mailbox; each level includes the ones before it. Admins have `send` everywhere. */
export type MailboxLevel = 'read' | 'write' | 'send';

/** A member of the body that only a person's session may send, but for one value that grants nothing. */
export interface SessionMember {
  readonly member: string;
  readonly unless?: string;
}

/** Who may do one thing. */
export interface Right {
  /** Any one of these suffices. `credential`: any credential; `public`: none required. */
  readonly scopes: readonly Scope[] | 'credential' | 'public';
  /** All of them are needed on top. */
  readonly also?: readonly Scope[];
  /** The least role. @default user */
  readonly role?: 'admin' | 'superadmin';
  /** A person's session; an API key is refused whatever its scopes. */
  readonly session?: true;
  /** What of the body needs a person's session; an API key may send the rest. */
  readonly sessionMembers?: readonly SessionMember[];
  readonly holder: Holder;
  /** At the mailbox; who sees it with less gets 403 `missing_access`. */
  readonly level?: MailboxLevel;
  /** What is decided by more than the fields above can say, in words. */
  readonly condition?: string;
}
