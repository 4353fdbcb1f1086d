import {
  AnalyticsServiceService,
  AttachmentServiceService,
  ConversationServiceService,
  DomainServiceService,
  DraftServiceService,
  ImportServiceService,
  LabelServiceService,
  MailboxServiceService,
  RetentionServiceService,
  RuleServiceService,
  SignatureServiceService,
  SubmissionServiceService,
  TemplateServiceService,
  TenantServiceService,
  VisibilityServiceService,
} from '@dak/contracts/mail';
import { createClient, type CallOptions, type Channel, type Client } from '@dak/platform/grpc';

/** Typed clients of everything the mail service answers. */
export interface MailClients {
  readonly analytics: Client<typeof AnalyticsServiceService, CallOptions>;
  readonly mailboxes: Client<typeof MailboxServiceService, CallOptions>;
  readonly conversations: Client<typeof ConversationServiceService, CallOptions>;
  readonly domains: Client<typeof DomainServiceService, CallOptions>;
  readonly labels: Client<typeof LabelServiceService, CallOptions>;
  readonly retention: Client<typeof RetentionServiceService, CallOptions>;
  readonly rules: Client<typeof RuleServiceService, CallOptions>;
  readonly submissions: Client<typeof SubmissionServiceService, CallOptions>;
  readonly drafts: Client<typeof DraftServiceService, CallOptions>;
  readonly signatures: Client<typeof SignatureServiceService, CallOptions>;
  readonly templates: Client<typeof TemplateServiceService, CallOptions>;
  readonly attachments: Client<typeof AttachmentServiceService, CallOptions>;
  readonly imports: Client<typeof ImportServiceService, CallOptions>;
  readonly visibility: Client<typeof VisibilityServiceService, CallOptions>;
  readonly tenants: Client<typeof TenantServiceService, CallOptions>;
}

export function createMailClients(channel: Channel): MailClients {
  return {
    analytics: createClient(AnalyticsServiceService, channel),
    mailboxes: createClient(MailboxServiceService, channel),
    conversations: createClient(ConversationServiceService, channel),
    domains: createClient(DomainServiceService, channel),
    labels: createClient(LabelServiceService, channel),
    retention: createClient(RetentionServiceService, channel),
    rules: createClient(RuleServiceService, channel),
    submissions: createClient(SubmissionServiceService, channel),
    drafts: createClient(DraftServiceService, channel),
    signatures: createClient(SignatureServiceService, channel),
    templates: createClient(TemplateServiceService, channel),
    attachments: createClient(AttachmentServiceService, channel),
    imports: createClient(ImportServiceService, channel),
    visibility: createClient(VisibilityServiceService, channel),
    tenants: createClient(TenantServiceService, channel),
  };
}
