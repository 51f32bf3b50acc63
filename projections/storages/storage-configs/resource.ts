import { z } from 'zod';
import type { CdnTokenScheme } from '../../../src/areas/storages/domain/delivery/delivery.js';
import { entityId, instant, namedObject } from '../../../src/validation/fields.js';
import { storageProvider } from '../../../src/areas/storages/domain/bucket/bucket.js';
import {
  testFailureCodes,
  testWarningCode,
} from '../../../src/areas/storages/domain/delivery/test-failure.js';
import { storageStatus } from '../../../src/areas/storages/domain/storage/fold.js';

/** A storage (docs/api.md#21-storage-configuration-response-object). No reply carries credentials. */
export const storageResource = namedObject('Storage', {
  id: entityId,
  project_id: entityId,
  name: z.string(),
  provider: storageProvider,
  endpoint: z.string(),
  public_endpoint: z.string(),
  bucket: z.string(),
  region: z.string(),
  base_path: z.string(),
  cdn_domain: z.string(),
  status: storageStatus,
  is_default: z.boolean(),
  last_test_at: instant.nullable(),
  last_error: z
    .string()
    .describe(`Empty, or a code and what to do. The codes: ${testFailureCodes.join(', ')}.`),
  warnings: z
    .array(
      z.strictObject({
        code: testWarningCode,
        message: z.string(),
        rule: namedObject('StorageWarningRule', { format: z.enum(['json', 'xml']), text: z.string() })
          .nullable()
          .describe('The CORS configuration to set, in the form that the provider’s tools take.'),
      }),
    )
    .describe('What the last passed test found that does not stop the service from using the storage.'),
  has_credentials: z.boolean(),
  created_at: instant,
  updated_at: instant,
});
export type StorageResource = z.infer<typeof storageResource>;

/** A token without its keys. */
export type CdnTokenShown = { readonly scheme: CdnTokenScheme; readonly valid_seconds: number };

/** The objects of a removed asset that its bucket still holds (src/areas/assets/README.md#deleting-objects). */
export const undeletedResource = namedObject('UndeletedObjects', {
  asset_id: entityId.describe('The removed asset.'),
  objects: z.array(
    z.strictObject({
      object_key: z.string(),
      cause: z
        .string()
        .describe(
          '`not_tried_yet`; `object_in_use`: another asset has the object, so it stays; `storage_changed`, `storage_disabled`; or a code of storage tests, such as `delete_denied`.',
        ),
      provider_code: z
        .string()
        .nullable()
        .meta({ description: 'The error code that the provider wrote.', examples: ['AccessDenied'] }),
    }),
  ),
  next_attempt_at: instant
    .nullable()
    .describe('Null before the first attempt, and after the last one: the objects then stay.'),
  removed_at: instant,
});
export type UndeletedResource = z.infer<typeof undeletedResource>;
