import { parseRequest } from '../../requests';
import { CreateApiKey } from '../api-keys/api-key-requests';
import { CreateMailbox, PutAssignments, UpdateMailbox } from './mailbox-requests';

const ID = '6a1f0a3e-3c1f-4f5e-9d7a-0d8f6a7b8c9d';
const hours = (from: string, to: string) => ({
  settings: { business_hours: [{ day: 'mon', from, to }] },
});

it.each([
  [{ settings: { time_zone: 'Nowhere' } }, /^settings\.time_zone must be an IANA/],
  [{ settings: { time_zone: '+05:30' } }, /^settings\.time_zone must be an IANA/],
  [{ settings: { undo_seconds: -1 } }, /^settings\.undo_seconds /],
  [{ settings: { undo_seconds: 121 } }, /^settings\.undo_seconds /],
  [hours('18:00', '09:00'), /^settings\.business_hours\[0\] must have from before to/],
  [hours('9:00', '18:00'), /^settings\.business_hours\[0\] must have from before to/],
  [hours('09:00', '24:00'), /^settings\.business_hours\[0\] must have from before to/],
  [{ metadata: { a: { b: 1 } } }, /^metadata\.a /],
  [{ display_name: 'a\r\nBcc: x' }, /^display_name must not hold line breaks/],
  [{ display_name: 'a'.repeat(201) }, /^display_name must have at most 200 characters/],
  [{ local_part: 'a@b' }, /^local_part must not hold an @/],
  [{ client_id: '' }, /^client_id must not be empty/],
  [{ client_id: 'a'.repeat(129) }, /^client_id must have at most 128/],
  [{ kind: 'pop3' }, /^kind must be one of/],
  [{ agent_mode: 'always' }, /^agent_mode must be one of/],
  [{ assigned_user_ids: ['x'] }, /^assigned_user_ids\[0\] must be a UUID/],
  [{ department_ids: Array.from({ length: 1001 }, () => ID) }, /^department_ids must have at most/],
  [{ policy_id: 'x' }, /^policy_id must be a UUID/],
])('a mailbox is not made with %j', (body, sentence) => {
  expect(() => parseRequest(CreateMailbox, body)).toThrow(sentence);
});

it('a list of a million faults costs no sentence for each', () => {
  const day = { day: 'funday', from: '09:00', to: '18:00' };
  const settings = { business_hours: Array.from({ length: 500_000 }, () => day) };
  const started = performance.now();
  expect(() => parseRequest(UpdateMailbox, { settings })).toThrow(
    'settings.business_hours must have at most 1000 elements.',
  );
  expect(() => parseRequest(CreateApiKey, { name: 'a', scopes: Array(500_000).fill('x') })).toThrow(
    'scopes must have at most 1000 elements.',
  );
  expect(performance.now() - started).toBeLessThan(1_000);
});

it('a display name is one line without white space around it', () => {
  expect(parseRequest(CreateMailbox, { display_name: '  Support Team ' }).display_name).toBe(
    'Support Team',
  );
});

it('a status is active or disabled', () => {
  expect(() => parseRequest(UpdateMailbox, { status: 'deleting' })).toThrow(/^status must be/);
});

it.each([
  [[{ user_id: ID, access: 'own' }], /^users\[0\]\.access must be one of/],
  [[{ user_id: 'x', access: 'read' }], /^users\[0\]\.user_id must be a UUID/],
  [
    [
      { user_id: ID, access: 'read' },
      { user_id: ID.toUpperCase(), access: 'send' },
    ],
    /^users must name each user once/,
  ],
])('a mailbox is not assigned to %j', (users, sentence) => {
  expect(() => parseRequest(PutAssignments, { users })).toThrow(sentence);
});
