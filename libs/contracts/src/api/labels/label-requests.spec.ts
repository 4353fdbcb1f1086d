import { parseRequest } from '../../requests';
import { ChangeLabels, CreateLabel, UpdateLabel } from './label-requests';

it.each(['a', '0', 'vip', 'team:north', 'v1.2_x-y', 'a'.repeat(63)])(
  'a label may be called %s',
  (name) => {
    expect(parseRequest(CreateLabel, { name })).toEqual({ name });
  },
);

it.each(['', 'Vip', ' vip', '-a', '.a', 'ä', 'a b', 'a/b', 'a'.repeat(64), 'a'.repeat(500)])(
  'a label may not be called %j',
  (name) => {
    expect(() => parseRequest(CreateLabel, { name })).toThrow(/^name must have|^name must hold/);
    expect(() => parseRequest(ChangeLabels, { add: [name] })).toThrow(/^add\[0\] must h/);
  },
);

it('system labels are left to Dak, both ways', () => {
  const sentence = 'unread is a system label, which only Dak sets.';
  expect(() => parseRequest(CreateLabel, { name: 'unread' })).toThrow(`name: ${sentence}`);
  expect(() => parseRequest(ChangeLabels, { add: ['unread'] })).toThrow(`add[0]: ${sentence}`);
  expect(() => parseRequest(ChangeLabels, { remove: ['unread'] })).toThrow(sentence);
});

it('a label of an older grammar can be removed', () => {
  expect(parseRequest(ChangeLabels, { remove: ['Old Label'] }).remove).toEqual(['Old Label']);
});

it.each([
  ['#AABBCC', '#aabbcc'],
  [null, null],
])('the color %s is stored as %s', (color, stored) => {
  expect(parseRequest(UpdateLabel, { color })).toEqual({ color: stored });
});

it.each(['red', '#12345', '#1234567', '#12345g'])('%s is no color', (color) => {
  expect(() => parseRequest(UpdateLabel, { color })).toThrow(/^color must/);
});
