import { z } from 'zod';
import { fewMembers, fitsJson, lineShape, longTextShape, textShape } from '../../requests';
import { subjectShape } from '../submissions/subject';
import { TEMPLATE_LIMITS } from './template-limits';
import { TEMPLATE_VARIABLE_TYPES } from './template-records';
import { TEMPLATE_NAME, TEMPLATE_VALUES } from './template-values';

const MAX_VARIABLES = 100;
const ALIAS = /^[a-z0-9][a-z0-9._-]{0,62}$/;

const variable = z
  .object({
    name: z
      .string()
      .min(1)
      .max(64)
      .refine(
        (name) => TEMPLATE_NAME.test(name),
        'must be 1 to 64 letters, digits and underscores that do not begin with a digit.',
      ),
    type: z.enum(TEMPLATE_VARIABLE_TYPES),
    required: z.boolean().default(false),
    fallback: z.unknown().optional().meta({ description: 'Used if no value is given.' }),
    description: textShape.max(500).nullish(),
  })
  .transform(({ name, type, required, fallback, description }, context) => {
    const { shape, expected } = TEMPLATE_VALUES[type];
    const value = shape.nullish().safeParse(fallback);
    if (value.success) {
      return { name, type, required, fallback: value.data ?? null, description: description ?? '' };
    }
    const message = `must be ${expected}.`;
    context.addIssue({ code: 'custom', path: ['fallback'], message });
    return z.NEVER;
  });

const variables = z
  .array(variable)
  .max(MAX_VARIABLES)
  .superRefine((declared, context) => {
    const names = declared.map(({ name }) => name);
    const again = names.findIndex((name, index) => names.indexOf(name) < index);
    if (again < 0) return;
    const message = `repeats ${names[again]}. Declare it once.`;
    context.addIssue({ code: 'custom', path: [again, 'name'], message });
  });

const body = longTextShape(
  TEMPLATE_LIMITS.template_body_bytes,
  'template_too_large',
  'Link to large images instead of including them.',
)
  .nullable()
  .transform((text) => (text === null || text.trim() === '' ? null : text));

/** Without defaults: a patch must not have any. */
const content = z.object({
  name: lineShape(200),
  alias: z
    .string()
    .max(63)
    .refine(
      (alias) => ALIAS.test(alias),
      'must be 1 to 63 lower-case letters, digits, dots, underscores and hyphens, the first a letter or digit.',
    )
    .nullable()
    .meta({
      description: 'A name for use by programs; unique among the organization’s templates.',
    }),
  subject: subjectShape.nullable().transform((subject) => subject ?? ''),
  body_text: body.meta({ description: 'Generated from body_html if absent.' }),
  body_html: body.meta({
    description: 'Sanitized; rules from <style> elements are inlined into style attributes.',
  }),
  variables,
});

const { alias, subject, body_text, body_html } = content.shape;

export const CreateTemplate = content.extend({
  alias: alias.default(null),
  subject: subject.default(''),
  body_text: body_text.default(null),
  body_html: body_html.default(null),
  variables: variables.default([]),
});
export const UpdateTemplate = content.partial();

export const PreviewTemplate = z.object({
  variables: fewMembers(1000, z.record(z.string(), z.unknown()))
    .refine((values) => fitsJson(values, Infinity), 'must not be nested so deeply.')
    .default({}),
});

export type CreateTemplate = z.output<typeof CreateTemplate>;
export type UpdateTemplate = z.output<typeof UpdateTemplate>;
