import { randomUUID } from 'node:crypto';
import type { Stack } from '../../stack/stack';
import { superadminSession } from '../../stack/tenant';
import { noted, type Noun } from './noun';

const ERASE = '/api/v1/admin/organizations/{id}/erase';

export const organizations: Noun = {
  records: { '/api/v1/admin/organizations': ({ tenant }) => tenant.organizationId },
  requests: {
    'PATCH /api/v1/settings/organization': { body: { time_zone: 'Asia/Kolkata' } },
    'POST /api/v1/admin/organizations': ({ tenant }) => ({
      body: {
        name: tenant.unique(),
        admin: { email: `${tenant.unique()}@elsewhere.example`, display_name: 'First Admin' },
      },
    }),
    'PATCH /api/v1/admin/organizations/{id}': { body: { status: 'active' } },
    [`POST ${ERASE}`]: async ({ stack }) => {
      const { id, name } = await suspended(stack);
      return { params: { id }, body: { name } };
    },
    [`GET ${ERASE}`]: async ({ stack }) => {
      const { id, name } = await suspended(stack);
      const platform = stack.client(await superadminSession(stack));
      await platform.post(`/admin/organizations/${id}/erase`, { name });
      return { params: { id } };
    },
    'PATCH /api/v1/admin/operations': { body: { outgoing: 'run' } },
  },
  audited: {
    'PATCH /api/v1/settings/organization': noted('organization.updated'),
    'PATCH /api/v1/admin/organizations/{id}': noted('organization.administered'),
    [`POST ${ERASE}`]: noted('organization.erased'),
    'PATCH /api/v1/admin/operations': noted('operations.updated'),
  },
};

/** Made for the purpose of being erased. */
async function suspended(stack: Stack): Promise<{ id: string; name: string }> {
  const platform = stack.client(await superadminSession(stack));
  const name = `Erased ${randomUUID()}`;
  const { body } = await platform.post('/admin/organizations', {
    name,
    admin: { email: `${randomUUID()}@erased.example`, display_name: 'Admin' },
  });
  await platform.patch(`/admin/organizations/${body.id}`, { status: 'suspended' });
  return { id: body.id, name };
}
