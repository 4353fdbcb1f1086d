import { reading, type Noun } from './noun';

export const templates: Noun = {
  records: { '/api/v1/templates/{id}/versions': () => '1' },
  requests: {
    'POST /api/v1/templates': ({ tenant }) => ({
      body: {
        name: `${tenant.marker} template`,
        alias: tenant.unique().toLowerCase(),
        subject: `${tenant.marker} for {{name}}`,
        body_html: `<p>${tenant.marker} {{name}}</p>`,
        variables: [{ name: 'name', type: 'string', fallback: 'you' }],
      },
    }),
    'PATCH /api/v1/templates/{id}': { body: { name: 'Renamed' } },
    'POST /api/v1/templates/{id}/preview': { body: { variables: { name: 'Asha' } } },
  },
  audited: { 'POST /api/v1/templates/{id}/preview': reading },
};
