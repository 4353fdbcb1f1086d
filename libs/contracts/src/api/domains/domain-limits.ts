/** As `/capabilities` names them. */
export const DOMAIN_LIMITS = {
  domains: 100,
} as const;
