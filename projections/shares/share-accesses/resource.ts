import { z } from 'zod';
import { entityId, instant } from '../../../src/validation/fields.js';

/** One opening of a share (src/areas/shares/README.md#share-verification). */
export const shareAccessResource = z
  .strictObject({
    id: entityId,
    at: instant,
    downloads: z.int().meta({ description: 'How many assets the visitor saved by the page, each once.' }),
    client_ip_digest: z.string().nullable().meta({
      description:
        "Keyed digest of the visitor's address: the same address, the same digest. Null: not known.",
    }),
  })
  .meta({ id: 'ShareAccess' });
export type ShareAccessResource = z.infer<typeof shareAccessResource>;
