// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { sealedSchema } from '../../event-sourcing/sealed.js';
import { entityId } from '../fields.js';
import { deliveryMode } from './delivery.js';
import { storageProvider } from './provider.js';
import { testFailureCode, testFailureHint } from './test-failure.js';

/** What has to be proven by a test before it may serve. */
const connection = { endpoint: z.string(), bucket: z.string().min(1), region: z.string() };

/** Fields that were not given are `''`. */
const configuration = {
  name: z.string().min(1),
  ...connection,
  base_path: z.string(),
  cdn_domain: z.string(),
};

/** What a change of the connection changes besides; left out where it stays as it is. */
const besides = {
  name: z.string().min(1).exactOptional(),
  base_path: z.string().exactOptional(),
  cdn_domain: z.string().exactOptional(),
};

const credentials = z.strictObject({
  /** Counts the credentials; each version is sealed under a key of its own. */
  version: z.int().positive(),
  /** By the provider's own names, each sealed under its name. */
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
  /** All of the configuration as it is from now on. */
  StorageChanged: z.strictObject(configuration),
  StorageCredentialsReplaced: z.strictObject({ credentials }),
  StorageDeliveryChanged: z.strictObject({ mode: deliveryMode }),

  StorageTestStarted: z.strictObject({
    test_id: entityId,
    /** What is tested in place of the present connection, which goes on serving; null: the present one. */
    candidate: z.strictObject({ ...connection, ...besides, credentials: credentials.nullable() }).nullable(),
  }),
  StorageTestSucceeded: z.strictObject({ test_id: entityId }),
  StorageTestFailed: z.strictObject({
    test_id: entityId,
    code: testFailureCode,
    hint: testFailureHint.nullable(),
  }),

  StorageDisabled: z.strictObject({}),
  StorageEnabled: z.strictObject({}),
  /** The keys of its credentials are destroyed next. */
  StorageDeleted: z.strictObject({}),
};

export type StorageEvent = EventOf<typeof schemas>;
export const storageCodec = makeEventCodec(schemas);
