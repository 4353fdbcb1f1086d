import { recipientListsOf, settleRecipients } from './recipient-lists';

it('sends to each address once, where it says most', () => {
  const { recipients, warnings } = settleRecipients(
    recipientListsOf({
      to: ['a@x.example', 'A@X.example'],
      cc: ['b@x.example', 'a@x.example'],
      bcc: ['b@x.example', 'c@x.example'],
    }),
  );
  expect(recipients.to.map(({ email }) => email)).toEqual(['a@x.example']);
  expect(recipients.cc.map(({ email }) => email)).toEqual(['b@x.example']);
  expect(recipients.bcc.map(({ email }) => email)).toEqual(['c@x.example']);
  expect(warnings).toHaveLength(3);
});

it('refuses nobody and more than fifty', () => {
  expect(() => settleRecipients({ to: [], cc: [], bcc: [] })).toThrow('at least one');
  const many = Array.from({ length: 51 }, (_, index) => ({
    email: `a${index}@x.example`,
    name: '',
  }));
  expect(() => settleRecipients({ to: many, cc: [], bcc: [] })).toThrow('at most 50');
});
