import { z } from 'zod';
import {
  AcceptInvite,
  ChangePassword,
  OwnSessionRecord,
  SessionRecord,
  SignIn,
} from '@dak/contracts/api';
import { defineRoute, idParams, pageFields, pageOf, pageReply, type Route } from '../http';
import { acceptInvite } from './accept-invite';
import { changePassword } from './change-password';
import { login, type SessionParts } from './login';
import { endOwnSession, listOwnSessions } from './own-sessions';
import { logout } from './logout';
import { refresh } from './refresh';

const begun = {
  200: {
    description: 'The access token; the refresh token is set as a cookie',
    schema: SessionRecord,
    headers: { 'Set-Cookie': 'dak_refresh, HttpOnly, SameSite=Strict' },
  },
};

/** Around a password and an address. */
const SMALL_BODY = 16 * 1024;

const common = { tag: 'sessions' } as const;
/** Tries a secret: limited by client address before anything else is done. */
const attempt = { ...common, rateClass: 'auth', maxBodyBytes: SMALL_BODY } as const;

export function sessionRoutes(parts: SessionParts): Route[] {
  return [
    defineRoute({
      ...attempt,
      method: 'POST',
      path: '/auth/login',
      summary: 'Sign in',
      request: { body: SignIn },
      responses: begun,
      handler: (context) => login(parts, context, context.body),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/auth/refresh',
      summary: 'Refresh a session',
      description:
        'Authenticated by the refresh cookie. Reusing a refresh token within 10 seconds (for example from a second tab) returns the same tokens; reusing it later ends the session.',
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
      ...attempt,
      method: 'POST',
      path: '/auth/accept-invite',
      summary: 'Accept an invitation',
      request: { body: AcceptInvite },
      responses: begun,
      handler: (context) => acceptInvite(parts, context, context.body),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/auth/sessions',
      summary: 'List your sessions',
      description: 'Active sessions, with the client address each was started from.',
      request: { query: z.object(pageFields) },
      responses: { 200: { description: 'A page of sessions', schema: pageOf(OwnSessionRecord) } },
      handler: async ({ principal, query, url }) =>
        pageReply(url, await listOwnSessions(parts, principal, query)),
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/auth/sessions/{id}',
      summary: 'End one of your sessions',
      request: { params: idParams },
      responses: { 204: { description: 'Ended: its tokens stop working with the next request' } },
      handler: (context) => endOwnSession(parts, context, context.params.id),
    }),
    defineRoute({
      ...common,
      method: 'PATCH',
      path: '/auth/password',
      summary: 'Change your password',
      description: 'Ends all of the user’s other sessions and revokes their pending invites.',
      maxBodyBytes: SMALL_BODY,
      request: { body: ChangePassword },
      responses: { 204: { description: 'Changed' } },
      handler: (context) => changePassword(parts, context, context.body),
    }),
  ];
}
