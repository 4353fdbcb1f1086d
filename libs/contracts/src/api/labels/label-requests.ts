import { z } from 'zod';

const LABEL = /^[a-z0-9][a-z0-9._:-]{0,62}$/;

/** Labels that Dak sets; callers cannot. */
export const SYSTEM_LABELS: ReadonlySet<string> = new Set([
  'unread',
  'has_attachment',
  'auto_generated',
  'bounced',
  'injection_suspected',
  'external_first_contact',
]);

/** Of a conversation. */
export const MAX_LABELS = 64;

/** The name of a label that callers may set. */
export const labelShape = z
  .string()
  .max(100)
  .superRefine((name, context) => {
    if (SYSTEM_LABELS.has(name)) {
      context.addIssue({
        code: 'custom',
        message: `: ${name} is a system label, which only Dak sets.`,
      });
    } else if (!LABEL.test(name)) {
      context.addIssue({
        code: 'custom',
        message:
          'must hold labels of 1 to 63 lower-case letters, digits, dots, underscores, colons and hyphens, the first a letter or digit.',
      });
    }
  });
