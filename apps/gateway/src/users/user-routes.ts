import { z } from 'zod';
import {
  CreatedUserRecord,
  CreateUser,
  InviteRecord,
  ListUsers,
  UpdateUser,
  UserRecord,
} from '@dak/contracts/api';
import {
  defineRoute,
  idParams,
  pageFields,
  pageOf,
  pageReply,
  queryBoolean,
  type Route,
} from '../http';
import type { IdentityParts } from '../identity/identity-parts';
import { createUser } from './create-user';
import { inviteUser } from './invite-user';
import { getUser, listUsers } from './list-users';
import { updateUser } from './update-user';

export function userRoutes(parts: IdentityParts): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/settings/users',
      summary: 'List users',
      tag: 'users',
      request: {
        query: z.object({
          ...pageFields,
          ...ListUsers.shape,
          active: queryBoolean().optional(),
        }),
      },
      responses: { 200: { description: 'A page of users', schema: pageOf(UserRecord) } },
      handler: async ({ principal, query, url }) =>
        pageReply(url, await listUsers(parts, principal, query)),
    }),
    defineRoute({
      method: 'POST',
      path: '/settings/users',
      summary: 'Add a user',
      description: 'The invite_token is shown only to sessions, not to API keys.',
      tag: 'users',
      idempotency: 'gateway',
      request: { body: CreateUser },
      responses: { 201: { description: 'The user', schema: CreatedUserRecord } },
      handler: (context) => createUser(parts, context, context.body),
    }),
    defineRoute({
      method: 'GET',
      path: '/settings/users/{id}',
      summary: 'Get a user',
      tag: 'users',
      request: { params: idParams },
      responses: { 200: { description: 'The user', schema: UserRecord } },
      handler: async ({ principal, params }) => {
        const user = await getUser(parts, principal, params.id);
        return { status: 200, body: user, version: user.version };
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: '/settings/users/{id}',
      summary: 'Update a user',
      description:
        'Changes of role, departments or active status apply to all of the user’s API keys and sessions from the next request. The last admin cannot be demoted or deactivated (409).',
      tag: 'users',
      versioned: true,
      request: { params: idParams, body: UpdateUser },
      responses: { 200: { description: 'The user', schema: UserRecord } },
      handler: (context) => updateUser(parts, context, context.params.id, context.body),
    }),
    defineRoute({
      method: 'POST',
      path: '/settings/users/{id}/invite',
      summary: 'Resend an invitation',
      description: 'For a lost invite or a forgotten password. Revokes earlier invites.',
      tag: 'users',
      idempotency: 'gateway',
      request: { params: idParams },
      responses: { 201: { description: 'A one-use token', schema: InviteRecord } },
      handler: (context) => inviteUser(parts, context, context.params.id),
    }),
  ];
}
