import { z } from 'zod';

const LABEL = /^[a-z0-9][a-z0-9._:-]{0,62}$/;

/** Labels that Dak sets; callers cannot. */
const SYSTEM_LABELS: ReadonlySet<string> = new Set([
  'unread',
  'has_attachment',
  'auto_generated',
  'bounced',
  'injection_suspected',
  'external_first_contact',
]);

/** Labels per conversation. */
export const MAX_LABELS = 64;

/** In each list of one request. */
const MAX_LABEL_CHANGES = 200;

/** Removing takes any name, so that labels of an older grammar can go. */
const removedLabel = z
  .string()
  .max(100)
  .superRefine((name, context) => {
    if (!SYSTEM_LABELS.has(name)) return;
    const message = `: ${name} is a system label, which only Dak sets.`;
    context.addIssue({ code: 'custom', message });
  });

/** The name of a label that callers may set. */
export const labelShape = removedLabel.refine(
  (name) => SYSTEM_LABELS.has(name) || LABEL.test(name),
  'must hold labels of 1 to 63 lower-case letters, digits, dots, underscores, colons and hyphens, the first a letter or digit.',
);

export const ChangeLabels = z
  .object({
    add: z.array(labelShape).max(MAX_LABEL_CHANGES).optional(),
    remove: z.array(removedLabel).max(MAX_LABEL_CHANGES).optional(),
  })
  .meta({ id: 'ChangeLabels', description: 'A label in both lists is removed.' });

export const CreateLabel = z
  .object({
    name: labelShape.meta({
      minLength: 1,
      maxLength: 63,
      description: 'Lower-case letters, digits and . _ : - only.',
      examples: ['billing'],
    }),
    color: z
      .string()
      .max(7)
      .refine((color) => /^#[0-9a-f]{6}$/i.test(color), 'must look like #1a2b3c.')
      .toLowerCase()
      .nullable()
      .optional()
      .meta({ examples: ['#1a2b3c'] }),
    description: z.string().max(500).nullable().optional(),
  })
  .meta({ id: 'CreateLabel' });
export const UpdateLabel = CreateLabel.partial().meta({ id: 'UpdateLabel' });

export type ChangeLabels = z.output<typeof ChangeLabels>;
