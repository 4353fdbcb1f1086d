export { noteAudit, type AuditCause, type AuditNote } from './note-audit';
export { notesPublished } from './notes-published';
