export { auditEvent, noteAudit, type AuditCause, type AuditNote } from './note-audit';
