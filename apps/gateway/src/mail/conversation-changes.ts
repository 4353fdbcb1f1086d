import {
  UpdateConversation,
  type AssignConversation,
  type ChangeConversations,
} from '@dak/contracts/api';
import {
  AssignConversationRequest,
  ChangeLabelsRequest,
  SnoozeConversationRequest,
  UpdateConversationRequest,
  type Assignee,
  type ChangeConversationsRequest,
} from '@dak/contracts/mail';
import { messageOf, sentFields } from '@dak/contracts/requests';

export function toUpdate(
  body: UpdateConversation,
  target: Pick<UpdateConversationRequest, 'id' | 'expectedVersion'> = { id: '' },
): UpdateConversationRequest {
  const fields = sentFields(UpdateConversation.shape, body);
  return messageOf(UpdateConversationRequest, body, { ...target, fields });
}

/** @param target `assignee` with their name, which the gateway knows; undefined = unassigned */
export function toAssignment(
  { department_id, note }: AssignConversation,
  target: Pick<AssignConversationRequest, 'assignee'> & { id?: string },
): AssignConversationRequest {
  const setsDepartment = department_id !== undefined;
  return messageOf(
    AssignConversationRequest,
    { department_id, note },
    { ...target, setsDepartment },
  );
}

/** @param assignee of the action assign */
export function toChanges(
  body: ChangeConversations,
  assignee: Assignee | undefined,
): ChangeConversationsRequest {
  return { ids: body.ids, action: actionOf(body, assignee) };
}

function actionOf(
  body: ChangeConversations,
  assignee: Assignee | undefined,
): ChangeConversationsRequest['action'] {
  switch (body.action) {
    case 'update':
      return { $case: 'update', value: toUpdate(changeOf(body)) };
    case 'labels':
      return { $case: 'labels', value: messageOf(ChangeLabelsRequest, changeOf(body)) };
    case 'snooze':
      return { $case: 'snooze', value: messageOf(SnoozeConversationRequest, changeOf(body)) };
    case 'unsnooze':
      return { $case: 'unsnooze', value: { id: '' } };
    case 'assign':
      return { $case: 'assign', value: toAssignment(body, { assignee }) };
  }
}

function changeOf<Body extends ChangeConversations>({
  ids: _ids,
  action: _action,
  ...change
}: Body) {
  return change;
}
