const MB = 1024 * 1024;

/** As `/capabilities` names them. */
export const SUBMISSION_LIMITS = {
  recipients_per_message: 50,
  /** After encoding. RFC 5321 §4.5.3.1.7 leaves it to sites; 25 MB is what most of them take. */
  message_bytes: 25 * MB,
  attachments_per_message: 20,
  /** Each of text and HTML. */
  mail_body_bytes: 2 * MB,
} as const;
