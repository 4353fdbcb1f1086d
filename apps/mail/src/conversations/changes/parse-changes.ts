import {
  AssignConversation,
  ChangeLabels,
  SnoozeConversation,
  UpdateConversation,
} from '@dak/contracts/api';
import type {
  AssignConversationRequest,
  ChangeLabelsRequest,
  SnoozeConversationRequest,
  UpdateConversationRequest,
} from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';

/** An assignment whose assignee has the name that the gateway knows. */
export interface Assignment extends Pick<AssignConversation, 'department_id' | 'note'> {
  readonly assignee: { type: 'user' | 'agent'; id: string; name: string } | null;
}

/** The fields that the caller sent. @throws InvalidError */
export function parseUpdate(message: UpdateConversationRequest): UpdateConversation {
  return parseRequest(UpdateConversation, requestOf(message, message.fields));
}

/** @throws InvalidError for a label that breaks the grammar or is a system label */
export function parseLabels(message: ChangeLabelsRequest): ChangeLabels {
  return parseRequest(ChangeLabels, requestOf(message));
}

/** @throws InvalidError */
export function parseSnooze(message: SnoozeConversationRequest): SnoozeConversation {
  return parseRequest(SnoozeConversation, requestOf(message));
}

/** @throws InvalidError when the assignee is no user or agent */
export function parseAssignment(message: AssignConversationRequest): Assignment {
  const { assignee, setsDepartment, departmentId = null, note } = message;
  const request = { assignee: assignee ?? null, note };
  const parsed = parseRequest(
    AssignConversation,
    setsDepartment ? { ...request, department_id: departmentId } : request,
  );
  const name = assignee?.name ?? '';
  return { ...parsed, assignee: parsed.assignee && { ...parsed.assignee, name } };
}
