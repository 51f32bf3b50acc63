import { z } from 'zod';
import type { CdnTokenScheme, DeliveryMode } from '../../../src/areas/storages/domain/delivery/delivery.js';
import { entityId, instant } from '../../../src/validation/fields.js';
import { storageProvider } from '../../../src/areas/storages/domain/bucket/provider.js';
import { testFailureCodes } from '../../../src/areas/storages/domain/storage/test-failure.js';
import { testWarningCode } from '../../../src/areas/storages/domain/storage/test-warning.js';
import { storageStatus } from '../../../src/areas/storages/domain/storage/status.js';

/** A storage (docs/api.md#21-storage-configuration-response-object). No reply carries credentials. */
export const storageResource = z
  .strictObject({
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
    last_error: z.string().meta({
      description: `Empty, or a code and what to do. The codes: ${testFailureCodes.join(', ')}.`,
    }),
    warnings: z
      .array(
        z.strictObject({
          code: testWarningCode,
          message: z.string(),
          rule: z
            .strictObject({ format: z.enum(['json', 'xml']), text: z.string() })
            .meta({ id: 'StorageWarningRule' })
            .nullable()
            .meta({
              description: 'The CORS configuration to set, in the form that the provider’s tools take.',
            }),
        }),
      )
      .meta({
        description: 'What the last passed test found that does not stop the service from using the storage.',
      }),
    has_credentials: z.boolean(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Storage' });
export type StorageResource = z.infer<typeof storageResource>;

/** How media URLs use `cdn_domain`, without keys (docs/design.md#delivery). */
export interface StorageDelivery {
  readonly mode: DeliveryMode;
  /** Only of the mode `token`. */
  readonly token?: CdnTokenShown;
}

/** A token without its keys. */
export type CdnTokenShown = { readonly scheme: CdnTokenScheme; readonly valid_seconds: number };
