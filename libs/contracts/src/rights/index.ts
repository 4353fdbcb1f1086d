export { HOLDERS, type Holder, type MailboxLevel, type Right } from './right';
export { RIGHTS, type Action } from './rights-table';
