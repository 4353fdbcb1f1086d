import { parseMessageIds } from './message-ids';

describe('parseMessageIds', () => {
  it.each<[string, string, string[]]>([
    ['one id', '<a@b>', ['a@b']],
    ['a list with and without white space', '<a@b>\t<c@d><e@f>, <a@b>', ['a@b', 'c@d', 'e@f']],
    ['an id without @', '<19961222.AAE16235>', ['19961222.AAE16235']],
    ['an id that was folded inside', '<a\t b@c>', ['ab@c']],
    ['prose around it', 'Your message of "Mon, 1 Jan" <a@b> (was: x)', ['a@b']],
    ['no brackets', 'a@b c@d', ['a@b', 'c@d']],
    ['prose without an id', 'message from ann@example.com of today', []],
    ['an empty id', '<>', []],
    ['an unclosed bracket', '<a@b', ['a@b']],
  ])('reads %s', (_, value, expected) => {
    expect(parseMessageIds(value)).toEqual(expected);
  });
});
