export { HOLDERS, type Holder, type MailboxLevel, type Right, type SessionMember } from './right';
export { RIGHTS, type Action } from './rights-table';
