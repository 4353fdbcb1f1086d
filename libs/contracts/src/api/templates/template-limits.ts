/** As `/capabilities` names them. */
export const TEMPLATE_LIMITS = {
  templates: 1_000,
  template_body_bytes: 200 * 1024,
} as const;
