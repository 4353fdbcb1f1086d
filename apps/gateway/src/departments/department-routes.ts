import { z } from 'zod';
import {
  CreateDepartment,
  DepartmentRecord,
  PutDepartmentMembers,
  UpdateDepartment,
} from '@dak/contracts/api';
import { defineRoute, idParams, pageFields, pageOf, pageReply, type Route } from '../http';
import type { IdentityParts } from '../identity/identity-parts';
import {
  createDepartment,
  deleteDepartment,
  putDepartmentMembers,
  updateDepartment,
} from './change-department';
import { getDepartment, listDepartments } from './list-departments';

const common = { tag: 'departments' } as const;
const responses = { 200: { description: 'The department', schema: DepartmentRecord } };

export function departmentRoutes(parts: IdentityParts): Route[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/departments',
      summary: 'List departments',
      request: { query: z.object(pageFields) },
      responses: {
        200: { description: 'A page of departments', schema: pageOf(DepartmentRecord) },
      },
      handler: async ({ principal, query, url }) =>
        pageReply(url, await listDepartments(parts, principal, query)),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/departments',
      summary: 'Create a department',
      idempotency: 'gateway',
      request: { body: CreateDepartment },
      responses: { 201: { description: 'The department', schema: DepartmentRecord } },
      handler: (context) => createDepartment(parts, context, context.body),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/departments/{id}',
      summary: 'Get a department',
      request: { params: idParams },
      responses,
      handler: async ({ principal, params }) => {
        const department = await getDepartment(parts, principal, params.id);
        return { status: 200, body: department, version: department.version };
      },
    }),
    defineRoute({
      ...common,
      method: 'PATCH',
      path: '/departments/{id}',
      summary: 'Update a department',
      versioned: true,
      request: { params: idParams, body: UpdateDepartment },
      responses,
      handler: (context) => updateDepartment(parts, context, context.params.id, context.body),
    }),
    defineRoute({
      ...common,
      method: 'PUT',
      path: '/departments/{id}/members',
      summary: 'Replace department members',
      versioned: true,
      request: { params: idParams, body: PutDepartmentMembers },
      responses,
      handler: (context) =>
        putDepartmentMembers(parts, context, context.params.id, context.body.user_ids),
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/departments/{id}',
      summary: 'Delete a department',
      versioned: true,
      request: { params: idParams },
      responses: { 204: { description: 'Deleted' } },
      handler: (context) => deleteDepartment(parts, context, context.params.id),
    }),
  ];
}
