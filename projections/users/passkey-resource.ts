import { z } from 'zod';
import { entityId, instant } from '../../src/domain/fields.js';

/** A passkey as its user sees it (docs/design.md#passkeys). */
export const passkeyResource = z
  .strictObject({
    id: entityId,
    name: z.string(),
    created_at: instant,
    last_used_at: instant.nullable(),
    synced: z.boolean().meta({ description: 'Whether it may be copied to other devices.' }),
    backed_up: z.boolean().meta({ description: 'Whether a copy existed at its last use.' }),
    transports: z.array(z.string()).readonly(),
    aaguid: z.string().meta({ description: 'The model of the authenticator; zeros where it does not say.' }),
  })
  .meta({ id: 'Passkey' });
export type PasskeyResource = z.infer<typeof passkeyResource>;
