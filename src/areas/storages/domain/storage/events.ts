// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { sealedSchema } from '../../../../event-sourcing/ports/sealed.js';
import { entityId } from '../../../../validation/fields.js';
import { cdnTokenScheme, deliveryMode } from '../delivery/delivery.js';
import { storageProvider } from '../bucket/provider.js';
import { testFailureCode, testFailureHint } from './test-failure.js';
import { testWarning } from './test-warning.js';

/** Streams `storage-<storage id>`. */
export const storageCategory = 'storage';

/** A test must prove these values before they serve. */
const connection = {
  endpoint: z.string(),
  public_endpoint: z.string(),
  bucket: z.string().min(1),
  region: z.string(),
};

/** Omitted fields are `''`. */
const configuration = {
  name: z.string().min(1),
  ...connection,
  base_path: z.string(),
  cdn_domain: z.string(),
};

/** The other fields that change together with the connection. Unchanged ones are absent. */
const others = {
  name: z.string().min(1).exactOptional(),
  base_path: z.string().exactOptional(),
  cdn_domain: z.string().exactOptional(),
};

const credentials = z.strictObject({
  /** Counts the credentials. Each version is sealed with a separate key. */
  version: z.int().positive(),
  /** By the provider's names. Each value is sealed under its name. */
  sealed: z.record(z.string(), sealedSchema),
});

const schemas = {
  StorageCreated: z.strictObject({
    project_id: entityId,
    provider: storageProvider,
    ...configuration,
    credentials_version: z.int().positive(),
    credentials: z.record(z.string(), sealedSchema),
  }),
  /** The whole configuration after the change. */
  StorageChanged: z.strictObject(configuration),
  StorageCredentialsReplaced: z.strictObject({ credentials }),
  StorageDeliveryChanged: z.strictObject({
    mode: deliveryMode,
    /** Of the mode `token`; null for another mode. */
    token: z
      .strictObject({ scheme: cdnTokenScheme, valid_seconds: z.int().nonnegative(), credentials })
      .nullable(),
  }),

  StorageTestStarted: z.strictObject({
    test_id: entityId,
    /** The values under test, while the present ones go on serving; null: the present ones are tested. */
    candidate: z.strictObject({ ...connection, ...others, credentials: credentials.nullable() }).nullable(),
  }),
  StorageTestSucceeded: z.strictObject({
    test_id: entityId,
    warnings: z.array(testWarning),
  }),
  StorageTestFailed: z.strictObject({
    test_id: entityId,
    code: testFailureCode,
    hint: testFailureHint.nullable(),
  }),

  /** The service has set the CORS rule of the bucket. */
  StorageCorsSet: z.strictObject({
    origins: z.array(z.string()),
    /** The origins that the bucket still refused a moment later. */
    refused: z.array(z.string()),
  }),

  StorageDisabled: z.strictObject({}),
  StorageEnabled: z.strictObject({}),
  /** The destruction of the credentials' keys follows. */
  StorageDeleted: z.strictObject({}),
};

export type StorageEvent = EventOf<typeof schemas>;
export const storageCodec = makeEventCodec(schemas);
