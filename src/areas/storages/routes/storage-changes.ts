import { namedObject } from '../../../validation/fields.js';
import type { StorageDeps } from '../deps.js';
import type { StorageCommands } from '../commands/index.js';
import { z } from 'zod';
import type { StorageChange } from '../commands/changing.js';
import type { ErrorCode } from '../../../http/replies/error-codes.js';
import { cdnTokenScheme, cdnValidSecondsMax, deliveryMode } from '../domain/delivery/delivery.js';
import { storageResource } from '../../../../projections/storages/storage-configs/resource.js';
import { noFields } from '../../../http/route-spec.js';
import { type Route, current, empty, finished, json, missing, routesOf } from '../../../http/route.js';
import { storageCredentials, storageFields, storageParams, storagesPath } from './storages.js';

const storageChange = namedObject('StorageChange', {
  ...storageFields,
  name: storageFields.name.optional(),
  bucket: storageFields.bucket.optional(),
});

const credentialsReplacement = namedObject('StorageCredentialsReplacement', {
  credentials: z
    .union([storageCredentials.s3, storageCredentials.cos])
    .describe("Exactly the two keys of the storage's provider."),
});

const mode = deliveryMode.describe(
  'How cdn_domain is used. origin: it is another name of the bucket, and URLs are signed for it; rewrite: a CDN that ' +
    'speaks to the bucket by its own name, so URLs are signed for the bucket; public: URLs carry no signature; token: the ' +
    'CDN reads the bucket itself and checks a token.',
);
const tokenSettings = {
  scheme: cdnTokenScheme,
  valid_seconds: z
    .int()
    .min(0)
    .max(cdnValidSecondsMax)
    .describe(
      'The life of a URL that the CDN is configured with. It counts from the timestamp in the URL. CloudFront has none: 0.',
    ),
};
const delivery = namedObject('Delivery', { mode, token: z.strictObject(tokenSettings).optional() });
const deliveryChange = namedObject('DeliveryChange', {
  mode,
  token: z
    .strictObject({
      ...tokenSettings,
      valid_seconds: tokenSettings.valid_seconds.default(0),
      keys: z
        .record(z.string().max(32), z.string().max(8_192))
        .describe('`key`; for CloudFront `key_pair_id` and `private_key` (PEM).'),
    })
    .optional()
    .describe('For the mode `token`, and only for it.'),
});
const changed = json('The configuration as it is now.', storageResource);
const tested = json(
  'The storage is active, and what was asked for is tested first: the configuration as it serves until then.',
  storageResource,
);

/** Makes the routes that change storages (src/areas/storages/README.md#storage-changes). */
export function makeStorageChangeRoutes(
  deps: StorageCommands & Pick<StorageDeps, 'storages'>,
): readonly Route[] {
  const { storages } = deps;
  const route = routesOf({ tag: 'Storages', path: `${storagesPath}/:storageId`, params: storageParams });
  /** Defines a POST without fields that changes the storage and answers with its configuration. */
  const switchRoute = (
    action: string,
    name: 'chooseDefaultStorage' | 'disableStorage' | 'enableStorage',
    summary: string,
    errors: readonly ErrorCode[] = [],
  ): Route =>
    route(name, `POST /${action}`, {
      summary,
      request: { body: noFields },
      replies: { 200: changed },
      errors,
      ifMatch: true,
      handler: async ({ params, command, expectedRevision }) =>
        current(await deps[name](params, command, { expectedRevision })),
    });
  return [
    route('changeStorage', 'PATCH', {
      summary: 'Change a storage',
      description:
        'Another endpoint, public endpoint, bucket or region of an active storage is tested first, and takes over together with all else that the request changes (202). Other changes apply at once.',
      request: { body: storageChange },
      replies: { 200: changed, 202: tested },
      errors: ['conflict'],
      ifMatch: true,
      handler: async ({ params, body, command, expectedRevision }) =>
        replyOf(await deps.changeStorage({ ...params, changes: body }, command, { expectedRevision })),
    }),
    route('deleteStorage', 'DELETE', {
      summary: 'Delete a storage, and destroy its credentials',
      replies: { 204: empty('It is deleted.') },
      errors: ['conflict'],
      ifMatch: true,
      handler: ({ params, command, expectedRevision }) =>
        finished(deps.deleteStorage(params, command, { expectedRevision })),
    }),
    route('replaceStorageCredentials', 'PUT /credentials', {
      summary: "Replace a storage's credentials",
      description: 'Those of an active storage serve until the new ones have passed a test (202).',
      request: { body: credentialsReplacement },
      replies: { 200: changed, 202: tested },
      errors: ['conflict'],
      ifMatch: true,
      handler: async ({ params, body: { credentials }, command, expectedRevision }) => {
        const input = { ...params, credentials };
        return replyOf(await deps.replaceStorageCredentials(input, command, { expectedRevision }));
      },
    }),
    route('testStorage', 'POST /test', {
      summary: 'Test a storage: list, write, read by a signed URL, delete',
      request: { body: noFields },
      replies: { 202: json('The test is under way.', storageResource) },
      errors: ['conflict'],
      ifMatch: true,
      handler: async ({ params, command, expectedRevision }) => ({
        ...current(await deps.testStorage(params, command, { expectedRevision })),
        status: 202,
      }),
    }),
    route('setStorageCors', 'POST /cors', {
      summary: 'Set the CORS rule of the bucket for the pages of this service',
      description:
        'Adds the rule of the warning `cors_missing` to the rules of the bucket, which stay. The key needs the permission. A 409 says why the bucket did not take it.',
      request: { body: noFields },
      replies: { 200: changed },
      errors: ['conflict'],
      ifMatch: true,
      handler: async ({ params, command, expectedRevision }) =>
        current(await deps.setStorageCors(params, command, { expectedRevision })),
    }),
    switchRoute('default', 'chooseDefaultStorage', "Make an active storage the project's default", [
      'conflict',
    ]),
    switchRoute('disable', 'disableStorage', 'Disable a storage: it serves nothing'),
    switchRoute('enable', 'enableStorage', 'Enable a storage; it is pending until it is tested'),
    route('getDelivery', 'GET /delivery', {
      entityTag: true,
      summary: 'The delivery mode of a storage',
      replies: { 200: json('The mode.', delivery) },
      handler: async ({ params: { projectId, storageId } }) =>
        current((await storages.delivery(projectId, storageId)) ?? missing('the storage does not exist')),
    }),
    route('changeDelivery', 'PUT /delivery', {
      summary: 'Change the delivery mode of a storage',
      request: { body: deliveryChange },
      replies: { 200: json('The mode.', delivery) },
      ifMatch: true,
      errors: ['conflict'],
      handler: async ({ params, body, command, expectedRevision }) => {
        const { mode, token = null } = body;
        const wanted = token === null ? null : { ...token, validSeconds: token.valid_seconds };
        const input = { ...params, mode, token: wanted };
        const { revision } = await deps.changeDelivery(input, command, { expectedRevision });
        if (token === null) return { status: 200, body: { mode }, revision };
        const { scheme, valid_seconds } = token;
        return { status: 200, body: { mode, token: { scheme, valid_seconds } }, revision };
      },
    }),
  ];
}

function replyOf({ isTested, ...changed }: StorageChange) {
  return isTested ? { ...current(changed), status: 202 as const } : current(changed);
}
