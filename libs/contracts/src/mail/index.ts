export * from '../generated/dak/mail/v1/conversation_service';
export * from '../generated/dak/mail/v1/import_service';
export * from '../generated/dak/mail/v1/label_service';
export * from '../generated/dak/mail/v1/mailbox_service';
export * from '../generated/dak/mail/v1/submission_service';
export * from '../generated/dak/mail/v1/template_service';
export * from '../generated/dak/mail/v1/tenant_service';
export * from '../generated/dak/mail/v1/visibility_service';
export { Chunk, Document, Empty, Page, PageRequest } from '../generated/dak/api/v1/document';
