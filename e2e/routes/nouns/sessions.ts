import { signIn } from '../../stack/tenant';
import { noted, reading, type Noun, type Parts, type PlainRequest } from './noun';

const PASSWORD = 'a long enough password';

export const sessions: Noun = {
  records: {
    '/api/v1/auth/sessions': async ({ stack, tenant }) => {
      const { session } = await signIn(stack, tenant.admin);
      const { body } = await stack.client(session).get('/auth/sessions');
      return body.data.find((one: { current: boolean }) => one.current).id;
    },
  },
  requests: {
    'POST /api/v1/auth/login': ({ tenant }) => ({
      body: { email: tenant.admin.email, password: tenant.admin.password },
    }),
    'POST /api/v1/auth/refresh': refreshCookie,
    'POST /api/v1/auth/logout': refreshCookie,
    'PATCH /api/v1/auth/password': { body: { current: PASSWORD, new: PASSWORD } },
    'POST /api/v1/auth/accept-invite': async ({ stack, tenant }) => {
      const { body } = await stack.client(tenant.admin.session).post('/settings/users', {
        email: `${tenant.unique()}@elsewhere.example`,
        display_name: tenant.unique(),
      });
      return { body: { token: body.invite_token, password: PASSWORD } };
    },
  },
  audited: {
    'POST /api/v1/auth/login': noted('session.login'),
    'POST /api/v1/auth/refresh': reading,
    'POST /api/v1/auth/logout': noted('session.logout'),
    'POST /api/v1/auth/accept-invite': noted('invite.accepted'),
    'PATCH /api/v1/auth/password': noted('user.password_changed'),
    'DELETE /api/v1/auth/sessions/{id}': noted('session.ended'),
  },
};

async function refreshCookie({ stack, tenant }: Parts): Promise<PlainRequest> {
  const { email, password } = tenant.admin;
  const { headers } = await stack.client().post('/auth/login', { email, password });
  return { headers: { Cookie: headers.get('set-cookie')!.split(';')[0]! } };
}
