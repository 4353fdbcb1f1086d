import { z } from 'zod';
import {
  AssignmentsRecord,
  CreateMailbox,
  MailboxRecord,
  PutAssignments,
  UpdateMailbox,
} from '@dak/contracts/api';
import {
  CreateMailboxRequest,
  PutAssignmentsRequest,
  UpdateMailboxRequest,
} from '@dak/contracts/mail';
import { messageOf, sentFields } from '@dak/contracts/requests';
import { namedIds, type MailDirectory } from '../backend/mail-directory-store';
import { defineRoute, idParams, pageFields, pageOf, queryBoolean, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { servicePage } from '../http/service-page';
import type { MailClients } from './mail-clients';

const common = { tag: 'mailboxes' } as const;

const mailbox = MailboxRecord.meta({ id: 'Mailbox' });
const one = { 200: { description: 'The mailbox', schema: mailbox } };
const assignments = {
  200: { description: 'Users and departments with access', schema: AssignmentsRecord },
};

export function mailboxRoutes(
  { mailboxes }: Pick<MailClients, 'mailboxes'>,
  directory: MailDirectory,
): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/mailboxes',
      summary: 'List mailboxes',
      request: {
        query: z.object({
          ...pageFields,
          q: z.string().max(200).optional().meta({
            description: 'Part of the address or the display name.',
          }),
          include_deleted: queryBoolean().optional(),
        }),
      },
      responses: {
        200: { description: 'A page of mailboxes, by address', schema: pageOf(mailbox) },
      },
      handler: ({ query, call, url }) =>
        servicePage({ query, url }, (page) =>
          mailboxes.listMailboxes(
            {
              page,
              query: query.q ?? '',
              includeDeleted: query.include_deleted ?? false,
            },
            call,
          ),
        ),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/mailboxes',
      summary: 'Create a mailbox',
      request: { body: CreateMailbox },
      responses: { 201: { description: 'The mailbox', schema: mailbox } },
      handler: async ({ body, principal, call }) => {
        await requireAssigned(directory, principal.organizationId, body);
        const request = messageOf(CreateMailboxRequest, body, { kind: 'hosted' });
        return documentReply(201, await mailboxes.createMailbox(request, call));
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/mailboxes/{id}',
      summary: 'Get a mailbox',
      request: { params: idParams },
      responses: one,
      handler: async ({ params, call }) =>
        documentReply(200, await mailboxes.getMailbox({ id: params.id }, call)),
    }),
    defineRoute({
      ...common,
      method: 'PATCH',
      path: '/mailboxes/{id}',
      summary: 'Update mailbox',
      versioned: true,
      request: { params: idParams, body: UpdateMailbox },
      responses: one,
      handler: async ({ params, body, principal, ifMatch, call }) => {
        await requireAssigned(directory, principal.organizationId, body);
        const request = messageOf(UpdateMailboxRequest, body, {
          id: params.id,
          expectedVersion: ifMatch ?? undefined,
          fields: sentFields(UpdateMailbox.shape, body),
        });
        return documentReply(200, await mailboxes.updateMailbox(request, call));
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/mailboxes/{id}',
      summary: 'Delete a mailbox',
      description:
        'The mailbox disappears but can be restored for 30 days. Refused while mail is scheduled or awaiting approval, unless force is true.',
      request: { params: idParams, query: z.object({ force: queryBoolean().optional() }) },
      responses: { 204: { description: 'Deleted' } },
      handler: async ({ params, query, call }) => {
        await mailboxes.deleteMailbox({ id: params.id, force: query.force ?? false }, call);
        return { status: 204 };
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/mailboxes/{id}/restore',
      summary: 'Restore a mailbox deleted in the last 30 days',
      request: { params: idParams },
      responses: one,
      handler: async ({ params, call }) =>
        documentReply(200, await mailboxes.restoreMailbox({ id: params.id }, call)),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/mailboxes/{id}/assignments',
      summary: 'Get mailbox assignments',
      request: { params: idParams },
      responses: assignments,
      handler: async ({ params, call }) =>
        documentReply(200, await mailboxes.getAssignments({ mailboxId: params.id }, call)),
    }),
    defineRoute({
      ...common,
      method: 'PUT',
      path: '/mailboxes/{id}/assignments',
      summary: 'Replace mailbox assignments',
      description: 'Replaces all assignments.',
      request: { params: idParams, body: PutAssignments },
      responses: assignments,
      handler: async ({ params, body, principal, call }) => {
        const { organizationId } = principal;
        const users = body.users.map(({ user_id: id }, index) => ({
          field: `users[${index}].user_id`,
          id,
        }));
        await directory.requireUsers(organizationId, users);
        await directory.requireDepartments(
          organizationId,
          namedIds('department_ids', body.department_ids),
        );
        const request = messageOf(PutAssignmentsRequest, body, { mailboxId: params.id });
        return documentReply(200, await mailboxes.putAssignments(request, call));
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/mailboxes/{id}/connection',
      summary: 'Get mailbox connection',
      request: { params: idParams },
      responses: {
        200: { description: 'The connection', schema: MailboxRecord.shape.connection },
      },
      handler: async ({ params, call }) => {
        const { json } = await mailboxes.getMailbox({ id: params.id }, call);
        const record = JSON.parse(Buffer.from(json).toString('utf8')) as MailboxRecord;
        return { status: 200, body: record.connection };
      },
    }),
  ];
}

async function requireAssigned(
  directory: MailDirectory,
  organizationId: string,
  body: { assigned_user_ids?: string[] | undefined; department_ids?: string[] | undefined },
): Promise<void> {
  await directory.requireUsers(
    organizationId,
    namedIds('assigned_user_ids', body.assigned_user_ids),
  );
  await directory.requireDepartments(
    organizationId,
    namedIds('department_ids', body.department_ids),
  );
}
