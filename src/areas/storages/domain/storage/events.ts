import { z } from 'zod';
import { event, type EventIn, makeEvents, sealedSchema } from '../../../../event-sourcing/ports/events.js';
import { entityId } from '../../../../validation/fields.js';
import { cdnTokenScheme, deliveryMode } from '../delivery/delivery.js';
import { storageProvider, type StorageProvider } from '../bucket/bucket.js';
import { testFailureCode, testFailureHint, testWarning } from '../delivery/test-failure.js';
import { inQuotes } from '../../../../validation/text.js';

/** A test must prove these values before they serve. */
const connection = z.strictObject({
  endpoint: z.string(),
  /** The origin that browsers use in place of `endpoint`. */
  public_endpoint: z.string(),
  bucket: z.string().min(1),
  region: z.string(),
});
export type StorageConnection = Readonly<z.infer<typeof connection>>;
export const connectionFields = connection.keyof().options;

/** What changes beside the connection. */
const others = z.strictObject({ name: z.string().min(1), base_path: z.string(), cdn_domain: z.string() });
export type OtherFields = Readonly<z.infer<typeof others>>;
export const otherFields = others.keyof().options;
const { name, base_path, cdn_domain } = others.shape;
const changedOthers = {
  name: name.exactOptional(),
  base_path: base_path.exactOptional(),
  cdn_domain: cdn_domain.exactOptional(),
};

/** How a storage is reached. Omitted fields are `''`. */
export type StorageConfiguration = StorageConnection & OtherFields & { readonly provider: StorageProvider };
const configuration = { ...connection.shape, ...others.shape };

export const credentials = z.strictObject({
  /** Counts the credentials. Each version is sealed with a separate key. */
  version: z.int().positive(),
  /** By the provider's names. Each value is sealed under its name. */
  sealed: z.record(z.string(), sealedSchema),
});

export const storageEvents = makeEvents('storage-{id}', {
  StorageCreated: event(
    {
      project_id: entityId,
      provider: storageProvider,
      ...configuration,
      credentials_version: z.int().positive(),
      credentials: z.record(z.string(), sealedSchema),
    },
    ({ project_id, provider, name, bucket }, id) =>
      `bound storage ${id} to project ${project_id}: ${inQuotes(name)}, bucket ${inQuotes(bucket)} at provider ${provider}; ` +
      'the credentials are sealed',
    'storage.created',
  ),
  /** The whole configuration after the change. */
  StorageChanged: event(
    configuration,
    ({ name, bucket }, id) =>
      `changed storage ${id}: its name is ${inQuotes(name)} and its bucket ${inQuotes(bucket)}`,
    'storage.changed',
  ),
  StorageCredentialsReplaced: event(
    { credentials },
    ({ credentials }, id) =>
      `replaced the credentials of storage ${id} with version ${credentials.version} (sealed)`,
    'storage.credentials_replaced',
  ),
  StorageDeliveryChanged: event(
    {
      mode: deliveryMode,
      /** Of the mode `token`; null for another mode. */
      token: z
        .strictObject({ scheme: cdnTokenScheme, valid_seconds: z.int().nonnegative(), credentials })
        .nullable(),
    },
    ({ mode, token }, id) =>
      `changed the delivery of storage ${id} to ${mode}` +
      (token === null
        ? ''
        : ` of the scheme ${token.scheme}, valid for ${token.valid_seconds} s; its keys are sealed`),
    'storage.delivery_changed',
  ),
  StorageTestStarted: event(
    {
      test_id: entityId,
      /** The values under test, with the other fields that change; null: the present ones are tested. */
      candidate: z
        .strictObject({ ...connection.shape, ...changedOthers, credentials: credentials.nullable() })
        .nullable(),
    },
    ({ test_id, candidate }, id) =>
      `started test ${test_id} of storage ${id} with ${candidate === null ? 'its present values' : 'new values'}` +
      (candidate?.credentials == null ? '' : '; the new credentials are sealed'),
    'storage.test_started',
  ),
  StorageTestSucceeded: event(
    { test_id: entityId, warnings: z.array(testWarning) },
    ({ test_id, warnings }, id) =>
      `ended test ${test_id} of storage ${id} with success` +
      (warnings.length === 0 ? '' : `, and the warnings ${warnings.map(({ code }) => code).join(', ')}`),
    'storage.test_succeeded',
    ({ warnings }) => ({ warnings: warnings.map(({ code }) => code) }),
  ),
  StorageTestFailed: event(
    { test_id: entityId, code: testFailureCode, hint: testFailureHint.nullable() },
    ({ test_id, code }, id) => `ended test ${test_id} of storage ${id} with the failure ${code}`,
    'storage.test_failed',
  ),
  /** The service has set the CORS rule of the bucket. */
  StorageCorsSet: event(
    {
      origins: z.array(z.string()),
      /** The origins that the bucket still refused a moment later. */
      refused: z.array(z.string()),
    },
    ({ origins, refused }, id) =>
      `set the CORS rule of the bucket of storage ${id} for ${origins.join(', ')}` +
      (refused.length === 0 ? '' : `; the bucket still refused ${refused.join(', ')}`),
    'storage.cors_set',
  ),
  StorageDisabled: event({}, (_, id) => `disabled storage ${id}`, 'storage.disabled'),
  StorageEnabled: event({}, (_, id) => `enabled storage ${id}`, 'storage.enabled'),
  /** The destruction of the credentials' keys follows. */
  StorageDeleted: event(
    {},
    (_, id) => `deleted storage ${id}; the destruction of the keys of its sealed credentials follows`,
    'storage.deleted',
  ),
});

export type StorageEvent = EventIn<typeof storageEvents>;
export const { category: storageCategory, codec: storageCodec } = storageEvents;
