import { Content, PutAssignmentsRequest, RuleDefinition, UpdateMailboxRequest } from '../mail';
import { CreateEndpointRequest } from '../webhook';
import { messageOf, requestOf, sentFields } from './message-fields';

const rule = {
  name: 'Invoices',
  mailbox_ids: ['6a1f0a3e-3c1f-4f5e-9d7a-0d8f6a7b8c9d'],
  conditions: [{ field: 'subject', operator: 'exists', value: true, negate: false }],
  stop: true,
};

it('a request comes out of its message as it went in', () => {
  const message = messageOf(RuleDefinition, rule);
  expect(message.mailboxIds).toEqual(rule.mailbox_ids);
  expect(requestOf(message)).toMatchObject(rule);
});

it('a patch has the fields that were sent, null where the message has nothing', () => {
  const patch = { display_name: null, settings: { undo_seconds: 20 } };
  const fields = sentFields({ display_name: 0, settings: 0, metadata: 0 }, patch);
  const message = messageOf(UpdateMailboxRequest, patch, { id: 'a', fields });
  expect(message).toMatchObject({ id: 'a', displayName: undefined });
  expect(requestOf(message, message.fields)).toEqual(patch);
});

it('parts of a request are parts of its message', () => {
  const assignments = { users: [{ user_id: 'a', access: 'read' }], department_ids: [] };
  const message = messageOf(PutAssignmentsRequest, assignments);
  expect(message.users).toEqual([{ userId: 'a', access: 'read' }]);
  expect(requestOf(message)).toMatchObject(assignments);
  // @ts-expect-error a user has no colour.
  messageOf(PutAssignmentsRequest, { users: [{ user_id: 'a', access: 'read', colour: 'red' }] });
});

it('a field that the message lacks does not compile', () => {
  // @ts-expect-error colour is no field of a rule.
  messageOf(RuleDefinition, { ...rule, colour: 'red' });
});

it('an object is a message inside, whose fields are named alike', () => {
  const send_window = { time_zone: 'Asia/Kolkata', days: ['mon'], from: '09:00', to: '17:00' };
  const message = messageOf(Content, { send_window, metadata: { is_vip: true } });
  expect(message.sendWindow).toMatchObject({ timeZone: 'Asia/Kolkata' });
  expect(requestOf(message)).toMatchObject({ send_window, metadata: { is_vip: true } });
});

it('a map, whose names are data, does not compile', () => {
  const headers: Record<string, string> = { 'X-Team': 'blue' };
  // @ts-expect-error headers are a map.
  messageOf(CreateEndpointRequest, { headers });
  expect(messageOf(CreateEndpointRequest, {}, { headers }).headers).toEqual(headers);
});

it('broken JSON is refused by its field', () => {
  const message = RuleDefinition.fromPartial({ actionsJson: Buffer.from('[') });
  expect(() => requestOf(message)).toThrow('actions must be valid JSON.');
});
