import { reading, type Noun } from './noun';

export const discovery: Noun = {
  records: { '/docs': () => 'swagger-ui.css' },
  requests: {
    'GET /api/v1/analytics/overview': {
      query: { granularity: 'week', time_zone: 'Asia/Kolkata' },
    },
    'GET /api/v1/reports/workload': { query: { from: '2026-01-01', granularity: 'month' } },
    'GET /api/v1/events/stream': { query: { seconds: '0' } },
    'GET /api/v1/audit': ({ tenant }) => ({ query: { actor: tenant.admin.id } }),
    'POST /api/v1/search': ({ mailbox }) => ({
      body: { q: 'lamp', filters: { mailbox: mailbox.id }, types: ['conversation', 'message'] },
    }),
  },
  audited: { 'POST /api/v1/search': reading },
};
