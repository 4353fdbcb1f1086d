import type { z } from 'zod';
import { parseRequest } from '../requests';
import { UpdateMailbox } from './mailboxes/mailbox-requests';
import { CreateRule } from './rules/rule-requests';
import { ComposeMail } from './submissions/submission-requests';
import { CreateTemplate, PreviewTemplate } from './templates/template-requests';
import { CreateWebhook } from './webhooks/webhook-requests';

const ID = '6a1f0a3e-3c1f-4f5e-9d7a-0d8f6a7b8c9d';
const faults = Array.from({ length: 300_000 }, () => ({}));
const faultyMembers = Object.fromEntries(faults.map((fault, index) => [`a${index}`, fault]));
const rule = { name: 'A', actions: [{ type: 'set_priority', priority: 'high' }] };

/** Fields of these would become sentences, of which three are said. */
const LISTS: readonly (readonly [string, z.ZodType, object])[] = [
  [
    'conditions[0].value',
    CreateRule,
    { ...rule, conditions: [{ field: 'subject', operator: 'in', value: faults }] },
  ],
  ['settings.business_hours', UpdateMailbox, { settings: { business_hours: faults } }],
  ['headers', CreateWebhook, { url: 'https://a.example', headers: faultyMembers }],
  [
    'variables[0].fallback',
    CreateTemplate,
    { name: 'A', variables: [{ name: 'v', type: 'list', fallback: [faultyMembers] }] },
  ],
  [
    'variables[0].fallback',
    CreateTemplate,
    {
      name: 'A',
      variables: Array.from({ length: 100 }, (_, index) => ({
        name: `v${index}`,
        type: 'list',
        fallback: Array.from({ length: 1_000 }, () => ({ '': {}, b: {}, c: {}, d: {} })),
      })),
    },
  ],
  // The text of an address is read in time quadratic in its length.
  ['to[0]', ComposeMail, { mailbox_id: ID, to: [`a${' '.repeat(200_000)}b`] }],
];

it.each(LISTS)('%s of a hostile request is refused at once', (field, schema, body) => {
  const started = performance.now();
  expect(() => parseRequest(schema, body)).toThrow(
    new RegExp(`^${field.replace(/[[\]]/g, '\\$&')} `),
  );
  expect(performance.now() - started).toBeLessThan(1_000);
});

it('variables of a reply may be null', () => {
  const reply = { type: 'reply_with_template', template_id: ID, variables: null };
  expect(parseRequest(CreateRule, { name: 'A', actions: [reply] }).actions).toEqual([
    { type: 'reply_with_template', template_id: ID, variables: {} },
  ]);
});

it.each([
  [
    ComposeMail,
    (deep: object) => ({ mailbox_id: ID, template_variables: deep }),
    'template_variables',
  ],
  [PreviewTemplate, (deep: object) => ({ variables: deep }), 'variables'],
  [
    CreateRule,
    (deep: object) => ({
      name: 'A',
      actions: [{ type: 'reply_with_template', template_id: ID, variables: deep }],
    }),
    'actions[0].variables',
  ],
])('values nested 200,000 deep are refused by their field: %#', (schema, bodyOf, field) => {
  const deep = JSON.parse(`${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`) as object;
  expect(() => parseRequest<z.ZodType>(schema, bodyOf(deep))).toThrow(`${field} must `);
});
