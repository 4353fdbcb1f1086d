import { unchanged, type Noun } from './noun';

export const domains: Noun = {
  requests: {
    'POST /api/v1/domains': ({ tenant }) => ({ body: { name: `${tenant.unique()}.example` } }),
    'PUT /api/v1/admin/organizations/{id}/domains': ({ tenant }) => ({
      body: { domains: [tenant.domain] },
    }),
  },
  audited: {
    'POST /api/v1/domains/{id}/verify': unchanged,
    'PUT /api/v1/admin/organizations/{id}/domains': unchanged,
  },
};
