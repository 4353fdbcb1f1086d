import { z } from 'zod';
import { timeShape } from '../../requests';
import { AUDIT_OUTCOMES } from './audit-records';

const word = z.string().max(100).optional();
const time = timeShape.optional();

/** The route adds the page. */
export const ListAudit = z.object({
  action: word.meta({ examples: ['api_key.revoked'] }),
  actor: word.meta({ description: 'ID of a user or an API key' }),
  target: word.meta({ description: 'ID of the changed record' }),
  outcome: z.enum(AUDIT_OUTCOMES).optional(),
  from: time,
  to: time.meta({ description: 'Exclusive' }),
});
