import { z } from 'zod';
import { entityId, instant } from '../../../src/validation/fields.js';
import { scope } from '../../../src/areas/projects/domain/role.js';

/** An API key as it is listed (src/areas/projects/README.md#api-keys). */
export const apiKeyResource = z
  .strictObject({
    id: entityId,
    name: z.string(),
    prefix: z.string().meta({ description: 'The first characters of the key.' }),
    last_four: z.string(),
    scopes: z.array(scope),
    expires_at: instant,
    issued_by: entityId.meta({ description: 'The id of a user.' }),
    created_at: instant,
  })
  .meta({ id: 'ApiKey' });
export type ApiKeyResource = z.infer<typeof apiKeyResource>;
