import { noted, type Noun } from './noun';

export const people: Noun = {
  requests: {
    'POST /api/v1/settings/users': ({ tenant }) => ({
      body: {
        email: `${tenant.unique()}@elsewhere.example`,
        display_name: tenant.unique(),
        department_ids: [tenant.departmentId],
      },
    }),
    'PATCH /api/v1/settings/users/{id}': { body: { display_name: 'Renamed' } },
    'POST /api/v1/settings/api-keys': ({ tenant }) => ({
      body: { name: tenant.unique(), scopes: ['mail.read'] },
    }),
  },
  audited: {
    'POST /api/v1/settings/users/{id}/invite': noted('user.invited'),
    'DELETE /api/v1/settings/api-keys/{id}': noted('api_key.revoked'),
    'PUT /api/v1/departments/{id}/members': noted('department.members_changed'),
  },
};
