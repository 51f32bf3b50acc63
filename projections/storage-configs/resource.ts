import { z } from 'zod';
import { entityId, instant } from '../../src/domain/fields.js';
import { storageProvider } from '../../src/domain/storage/provider.js';
import { testFailureCodes } from '../../src/domain/storage/test-failure.js';
import { storageStatus } from '../../src/domain/storage/status.js';

/** A storage (docs/api.md#21-storage-configuration-response-object). No reply carries credentials. */
export const storageResource = z
  .strictObject({
    id: entityId,
    project_id: entityId,
    name: z.string(),
    provider: storageProvider,
    endpoint: z.string(),
    bucket: z.string(),
    region: z.string(),
    base_path: z.string(),
    cdn_domain: z.string(),
    status: storageStatus,
    is_default: z.boolean(),
    last_test_at: instant.nullable(),
    last_error: z.string().meta({
      description: `Empty, or a code and what to do. The codes: ${testFailureCodes.join(', ')}.`,
    }),
    has_credentials: z.boolean(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Storage' });
export type StorageResource = z.infer<typeof storageResource>;
