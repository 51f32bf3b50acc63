import { z } from 'zod';
import { event, type EventIn, makeEvents } from '../../../../event-sourcing/ports/events.js';
import { sealedSchema } from '../../../../event-sourcing/ports/domain-event.js';
import { entityId } from '../../../../validation/fields.js';
import { cdnTokenScheme, deliveryMode } from '../delivery/delivery.js';
import { storageProvider, type StorageProvider } from '../bucket/bucket.js';
import { testFailureCode, testFailureHint, testWarning } from '../delivery/test-failure.js';
import { inQuotes } from '../../../../validation/text.js';

/** How a storage is reached. Omitted fields are `''`. */
export interface StorageConfiguration {
  readonly name: string;
  readonly provider: StorageProvider;
  readonly endpoint: string;
  /** The origin that browsers use in place of `endpoint`. */
  readonly public_endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly base_path: string;
  readonly cdn_domain: string;
}

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
      /** The values under test, while the present ones go on serving; null: the present ones are tested. */
      candidate: z.strictObject({ ...connection, ...others, credentials: credentials.nullable() }).nullable(),
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
