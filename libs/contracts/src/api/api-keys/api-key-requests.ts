import { SCOPES } from '@dak/kernel';
import { z } from 'zod';
import { fewMembers, nameShape, timeShape } from '../../requests';

export const CreateApiKey = z
  .object({
    name: nameShape,
    scopes: fewMembers(1000, z.array(z.enum(SCOPES)).min(1)),
    expires_at: timeShape.nullable().optional().meta({
      description:
        'Absent or null: never. A key created with another key expires no later than that key',
    }),
  })
  .meta({ id: 'CreateApiKey' });

export type CreateApiKey = z.output<typeof CreateApiKey>;
