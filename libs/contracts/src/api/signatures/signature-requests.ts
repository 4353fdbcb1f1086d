import { z } from 'zod';
import { idShape, lineShape, longTextShape } from '../../requests';

const body = longTextShape(
  64 * 1024,
  'signature_too_large',
  'Link to large images instead of including them.',
);

/** Without defaults: a patch must not have any. */
const signature = z.object({
  name: lineShape(100),
  body_html: body,
  body_text: body,
  mailbox_id: idShape.nullable().meta({
    description: 'Absent or null: organization-wide, which requires brand.manage.',
  }),
  is_default: z.boolean(),
});

const { body_html, body_text, mailbox_id, is_default } = signature.shape;

export const CreateSignature = signature.extend({
  body_html: body_html.default(''),
  body_text: body_text.default(''),
  mailbox_id: mailbox_id.default(null),
  is_default: is_default.default(false),
});
export const UpdateSignature = signature.partial();
