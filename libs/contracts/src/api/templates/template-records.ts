import { z } from 'zod';

export const TEMPLATE_VARIABLE_TYPES = [
  'string',
  'number',
  'boolean',
  'date',
  'url',
  'list',
] as const;

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const TemplateValue = z.union([scalar, z.array(z.union([scalar, z.record(z.string(), scalar)]))]);

export const TemplateVariableRecord = z.object({
  name: z.string(),
  type: z.enum(TEMPLATE_VARIABLE_TYPES),
  required: z.boolean(),
  fallback: TemplateValue.describe('Used if no value is given; null = none'),
  description: z.string(),
});

const content = {
  name: z.string(),
  alias: z.string().nullable().describe('Unique among the templates of the organization'),
  subject: z.string(),
  body_text: z.string().nullable(),
  body_html: z.string().nullable().describe('Sanitized, with its style sheet inlined'),
  variables: z.array(TemplateVariableRecord),
};

export const TemplateRecord = z.object({
  id: z.uuid(),
  ...content,
  version: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** A state that a template had; it never changes. */
export const TemplateVersionRecord = z.object({
  template_id: z.uuid(),
  version: z.int(),
  ...content,
  author: z.object({ type: z.string(), id: z.string().nullable(), name: z.string() }),
  created_at: z.iso.datetime(),
});

export const TemplatePreviewRecord = z.object({
  subject: z.string(),
  body_text: z.string(),
  body_html: z.string().nullable(),
  missing: z.array(z.string()).describe('Required variables without a value'),
});

export type TemplateVariableType = (typeof TEMPLATE_VARIABLE_TYPES)[number];
export type TemplateVariableRecord = z.infer<typeof TemplateVariableRecord>;
export type TemplateRecord = z.infer<typeof TemplateRecord>;
export type TemplateVersionRecord = z.infer<typeof TemplateVersionRecord>;
export type TemplatePreviewRecord = z.infer<typeof TemplatePreviewRecord>;
