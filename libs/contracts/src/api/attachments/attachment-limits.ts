/** As `/capabilities` names them. The message that a file goes into has limits of its own. */
export const ATTACHMENT_LIMITS = { attachment_bytes: 20 * 1024 * 1024 } as const;
