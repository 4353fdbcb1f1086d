import { z } from 'zod';
import { defineRoute, type Route } from '../http';
import { emailField, passwordField } from '../identity/fields';
import { UserRecord } from '../identity/records';
import { acceptInvite } from './accept-invite';
import { login, type SessionParts } from './login';
import { logout } from './logout';
import { refresh } from './refresh';

const sessionReply = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ description: 'Seconds' }),
    user: UserRecord,
  })
  .meta({ id: 'Session' });

const begun = {
  200: {
    description: 'The access token; the refresh token is in the cookie',
    schema: sessionReply,
    headers: { 'Set-Cookie': 'dak_refresh, HttpOnly, SameSite=Strict' },
  },
};

const common = { tag: 'sessions' } as const;

export function sessionRoutes(parts: SessionParts): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: '/auth/login',
      summary: 'Sign in',
      request: { body: z.object({ email: emailField(), password: z.string().min(1).max(200) }) },
      responses: begun,
      handler: (context) => login(parts, context, context.body),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/auth/refresh',
      summary: 'Renew a session',
      description: 'By the refresh cookie. A refresh token used twice ends its session.',
      responses: begun,
      handler: (context) => refresh(parts, context),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/auth/logout',
      summary: 'Sign out',
      responses: { 204: { description: 'The session has ended' } },
      handler: (context) => logout(parts, context),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/auth/accept-invite',
      summary: 'Set the password of an invited user and sign in',
      request: {
        body: z.object({ token: z.string().min(1).max(200), password: passwordField() }),
      },
      responses: begun,
      handler: (context) => acceptInvite(parts, context, context.body),
    }),
  ];
}
