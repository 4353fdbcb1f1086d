export * from '../generated/dak/webhook/v1/retention_service';
export * from '../generated/dak/webhook/v1/webhook_service';
export { Document, Empty, Page, PageRequest } from '../generated/dak/api/v1/document';
