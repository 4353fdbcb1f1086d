import type { ErrorKind } from './error-kinds';

/**
 * Every code that a client of the API can get in `X-Error-Code`, by kind, with its meaning. A code that is
 * not here does not compile; docs/errors.md is made from this list. A code is public: it stays as it is.
 */
export const ERROR_CODES = {
  invalid: {
    invalid_request: 'A field, parameter or header is missing, unknown or malformed.',
    archive_bomb: 'An archive for import unpacks to far more than its size.',
    blocked_address: 'A URL leads to an address that Dak does not call.',
    content_mismatch: 'The uploaded bytes differ from the promised size or hash.',
    damaged_archive: 'An archive for import cannot be read.',
    empty_mail: 'A mail has neither text nor attachment.',
    header_injection: 'A value for a header has a line break or NUL.',
    invalid_characters: 'A subject or recipient has control characters.',
    invalid_cursor: 'The cursor is not one of this list with these filters.',
    invalid_idempotency_key: 'Idempotency-Key is empty, too long, or not printable ASCII.',
    invalid_invite: 'The token of an invitation is unknown, used or expired.',
    invalid_recipient: 'A recipient is not a mail address.',
    invalid_reply_mode: 'The recipients do not fit the mode of the reply.',
    invalid_secret: 'A signing secret has the wrong form or length.',
    invalid_send_at: 'The time to send at is too near or too far ahead.',
    invalid_template: 'A template has a tag or style that cannot be rendered.',
    invalid_url: 'A URL is malformed, or its scheme or port is not allowed.',
    malformed_json: 'The body is not valid JSON.',
    missing_variables: 'A template lacks the values of required variables.',
    no_recipients: 'A mail has no recipient.',
    not_a_message: 'What was sent for import is no mail.',
    not_an_mbox: 'What was sent for import is no mbox.',
    too_many_files: 'An archive for import has too many files.',
    too_many_recipients: 'A mail has too many recipients.',
    unknown_attachment: 'An upload token is unknown, expired, or of another caller.',
    unknown_signature: 'The mailbox has no such signature.',
    unknown_template: 'The organization has no such template.',
    unknown_variable: 'A template uses a variable that it does not define.',
    wrong_password: 'The current password is not the one given.',
  },
  unauthenticated: {
    missing_credentials: 'The request carries no credentials.',
    invalid_credentials: 'The key or token is unknown, expired or revoked.',
    invalid_login: 'Email and password do not belong to an active user.',
    invalid_principal: 'A call between services carries no valid principal.',
    invalid_refresh_token: 'The refresh cookie is missing, used, expired or revoked.',
  },
  forbidden: {
    forbidden: 'The caller may not do this.',
    missing_access: 'The access level in the mailbox, or the authorship, does not suffice.',
    missing_role: 'The role does not suffice.',
    missing_scope: 'The credential lacks a scope.',
    owner_cannot_read:
      'The owner of a webhook, or a key that made or changed it, may not read the event.',
    session_required: "The action needs a person's session, not an API key.",
    superadmin_required: 'The action needs the session of a superadmin.',
    wrong_principal: 'A call between services comes from a caller that may not make it.',
  },
  not_found: {
    not_found: 'Nothing with this path or id is visible to the caller.',
  },
  conflict: {
    conflict: 'The state of the record does not allow this.',
    address_reserved: 'The address belongs to a recently deleted mailbox.',
    address_taken: 'Another mailbox has this address.',
    alias_taken: 'Another template has this alias.',
    already_uploaded: 'The content of this upload has been sent before.',
    approval_open: 'The conversation has an open approval.',
    client_id_taken: 'Another mailbox was made with this client_id.',
    conversation_merged: 'The conversation was merged into another one.',
    domain_in_use: 'The domain has mailboxes.',
    domain_taken: 'The domain belongs to this or another organization already.',
    draft_changed: 'The draft was changed or sent at the same time.',
    duplicate_email: 'Another user of the organization has this email.',
    duplicate_name: 'Another department of the organization has this name.',
    idempotency_in_progress: 'The first request with this Idempotency-Key is still running.',
    illegal_transition: 'The conversation cannot go from its status to the requested one.',
    label_exists: 'Another label has this name.',
    last_admin: 'The organization would lose its last admin.',
    mailbox_busy: 'The mailbox has scheduled mail or open approvals.',
    mailbox_disabled: 'The mailbox is disabled.',
    organization_active: 'The organization must be suspended before it is erased.',
    organization_erased: 'The organization is being erased.',
    own_organization: "A superadmin cannot suspend the superadmin's own organization.",
    stale_reply: 'A newer message has come into the conversation.',
    superadmin_role: 'The role of a superadmin cannot be changed.',
    too_late: 'The mail is being sent, was sent, or was canceled.',
    too_many_webhooks: 'The organization has as many webhooks as it may have.',
    webhook_disabled: 'The webhook is not enabled.',
  },
  precondition_failed: {
    version_mismatch: 'If-Match is not the ETag of the current version.',
  },
  too_large: {
    blob_too_large: 'The uploaded content is too large.',
    body_too_large: 'The request, or a body in it, is too large.',
    message_too_large: 'The mail would be too large after encoding.',
    signature_too_large: 'A signature is too large.',
    template_too_large: 'A template is too large.',
  },
  unsupported_media: {
    unsupported_media_type: 'Content-Type is missing or not one that the route reads.',
  },
  refused: {
    refused: 'The request is well formed, but cannot be carried out.',
    address_fixed: 'The address of a mailbox cannot change.',
    approval_unavailable: 'There is no approval queue.',
    domain_limit: 'The organization has as many domains as it may have.',
    domain_not_owned: 'The organization has not verified this domain.',
    dry_run_limit: 'As many dry runs are running as may run at once.',
    encryption_unavailable: 'No key of the recipients is known.',
    idempotency_mismatch: 'The Idempotency-Key was used with another request.',
    loop_suspected: 'An automatic reply would answer automatic mail, or comes too often.',
    not_available: 'The feature is not available yet.',
    rule_limit: 'The organization has as many rules as it may have.',
    storage_full: 'The organization keeps as much mail as it may keep.',
    template_limit: 'The organization has as many templates as it may have.',
    wrong_name: 'The name is not that of the organization to erase.',
  },
  rate_limited: {
    rate_limited:
      'The credential has made too many requests within a minute, or the organization has too many large ones under way.',
    login_throttled: 'Too many logins have failed.',
    send_limit: 'The mailbox has sent as many mails as it may within the hour or day.',
    too_many_streams: 'The credential has as many event streams open as it may have.',
  },
  unavailable: {
    unavailable: 'The service, or something it depends on, is unreachable or overloaded.',
    storage_unavailable: 'There is no room on the disk.',
  },
  deadline_exceeded: {
    deadline_exceeded: 'The request took longer than its deadline.',
  },
  internal: {
    internal: 'Something went wrong inside Dak.',
    blob_damaged: 'Stored bytes no longer match their hash.',
    unimplemented: 'No service answers this call.',
    wrong_principal: 'A service called in the name of a person, which only the gateway can do.',
  },
} as const satisfies Record<ErrorKind, Readonly<Record<string, string>>>;

/** Codes of requests that fail before a route is found, with their status. */
export const PROTOCOL_CODES = {
  malformed_http: { status: 400, meaning: 'The request is not well-formed HTTP.' },
  method_not_allowed: { status: 405, meaning: 'The path has no such method; Allow lists its own.' },
  request_timeout: { status: 408, meaning: 'The request did not arrive in time.' },
  headers_too_large: { status: 431, meaning: 'The headers are larger than 16 KB.' },
} as const;

/** Codes that clients never receive: of commands, of start-up, and of parked events. */
export const OPERATING_CODES = {
  invalid: {
    backup_damaged: 'A file of the backup is not as it was written.',
    backup_of_another_version: 'The backup was made by another version of Dak.',
    bad_arguments: 'The arguments of a command are not understood.',
    bad_configuration: 'A DAK_ variable has no usable value, or is missing beside another.',
    bad_event: 'The data of an event are not those of its kind.',
    invalid_allowance: 'An entry of a list of allowed addresses is no host, address or network.',
    kafka_version: 'The broker is too old.',
    no_backup: 'The folder holds no completed backup.',
    no_data_folder: 'The folder has no data of Dak.',
    no_running_dak: 'The command needs a running Dak.',
    undecodable: 'A record of the log cannot be read.',
    unverified_relay: 'A password would go to a relay whose certificate is not checked.',
    usage: 'A command was called with the wrong arguments.',
  },
  forbidden: {
    role_not_administered: 'The database administrator may not change the roles of Dak.',
  },
  conflict: {
    data_folder_in_use: 'Another running Dak uses the data folder.',
    edited_migration: 'A migration was changed after it was applied.',
    first_run_failed: 'The database is empty, but the first passwords are gone.',
    journal_folder_in_use: 'Another mail process uses the journal folder.',
    newer_database: 'The database was made by a newer version of Dak.',
    not_parked: 'The key is not parked, or is being replayed.',
    not_replayed: 'Some parked keys could not be replayed.',
    partition_count: 'A topic has another number of partitions.',
    port_in_use: 'Another process listens on the port.',
    rebuild_running: 'The analytics of the organization are being rebuilt.',
    replaying: 'The parked key is being replayed.',
    restore_unfinished: 'A restore into the data folder has not ended.',
  },
  refused: {
    database_not_empty: 'A restore needs a PostgreSQL without databases of Dak.',
    folder_not_empty: 'A backup or restore needs an empty folder.',
  },
  unavailable: {
    service_ended: 'A service of a distributed run has ended.',
    service_not_ready: 'A service of a distributed run is not ready in time.',
  },
  internal: {
    first_run_failed: 'The first organization could not be made.',
  },
} as const satisfies Partial<Record<ErrorKind, Readonly<Record<string, string>>>>;

type CodesIn<List, Kind> = Kind extends keyof List ? keyof List[Kind] & string : never;

/** The codes of one kind of error, or of all. */
export type ErrorCode<Kind extends ErrorKind = ErrorKind> = Kind extends ErrorKind
  ? CodesIn<typeof ERROR_CODES, Kind> | CodesIn<typeof OPERATING_CODES, Kind>
  : never;

/** What `X-Error-Code` can say. */
export type ReplyCode = ErrorCode | keyof typeof PROTOCOL_CODES;
