import { z } from 'zod';
import type { ChangeStorage, StorageChange } from '../../commands/change-storage.js';
import type { ChooseDefaultStorage } from '../../commands/choose-default-storage.js';
import type { DeleteStorage } from '../../commands/delete-storage.js';
import type { ReplaceStorageCredentials } from '../../commands/replace-storage-credentials.js';
import type { SwitchStorage } from '../../commands/switch-storage.js';
import type { StorageReader } from '../../../projections/storage-configs/reader.js';
import { accessMatrix } from '../access-matrix.js';
import { HttpError } from '../http-error.js';
import { noContent } from '../reply.js';
import { storage } from '../resources.js';
import { noBody, noQuery } from '../route-spec.js';
import { defineRoute } from '../route.js';
import type { Route } from '../route.js';
import { storageCredentials, storageFields, storageParams, storagesPath } from './storages.js';

const storageChange = z
  .strictObject({
    ...storageFields,
    name: storageFields.name.optional(),
    bucket: storageFields.bucket.optional(),
  })
  .meta({ id: 'StorageChange' });

const credentialsReplacement = z
  .strictObject({
    credentials: z
      .union([storageCredentials.s3, storageCredentials.cos])
      .meta({ description: "Exactly the two keys of the storage's provider." }),
  })
  .meta({ id: 'StorageCredentialsReplacement' });

const delivery = z
  .strictObject({
    mode: z.enum(['origin', 'rewrite', 'public']).meta({
      description:
        'How cdn_domain is used. origin: it is another name of the bucket, and URLs are signed for it; rewrite: a CDN that ' +
        'speaks to the bucket by its own name, so URLs are signed for the bucket; public: URLs carry no signature.',
    }),
  })
  .meta({ id: 'Delivery' });

const noFields = z.strictObject({});
const path = `${storagesPath}/:storageId`;
const common = { tag: 'Storages', entityTag: true } as const;
const changed = { description: 'The configuration as it is now.', schema: storage };
const tested = {
  description:
    'The storage is active, and what was asked for is tested first: the configuration as it serves until then.',
  schema: storage,
};

/** Changing storages: DESIGN 4.3. */
export function makeStorageChangeRoutes(deps: {
  readonly changeStorage: ChangeStorage;
  readonly replaceStorageCredentials: ReplaceStorageCredentials;
  readonly testStorage: SwitchStorage['testStorage'];
  readonly disableStorage: SwitchStorage['disableStorage'];
  readonly enableStorage: SwitchStorage['enableStorage'];
  readonly changeDelivery: SwitchStorage['changeDelivery'];
  readonly chooseDefaultStorage: ChooseDefaultStorage;
  readonly deleteStorage: DeleteStorage;
  readonly storages: Pick<StorageReader, 'find' | 'delivery'>;
}): readonly Route[] {
  const { storages } = deps;
  return [
    defineRoute({
      ...common,
      method: 'PATCH',
      path,
      name: 'changeStorage',
      summary: 'Change a storage',
      description:
        'Another endpoint, bucket or region of an active storage is tested first, and takes over together with all else that the request changes (202). Other changes apply at once.',
      access: accessMatrix.changeStorage,
      request: { params: storageParams, query: noQuery, body: storageChange },
      replies: { 200: changed, 202: tested },
      errors: ['conflict'],
      ifMatch: true,
      handler: async ({ params, body, command, expectedRevision }) =>
        replyOf(await deps.changeStorage({ ...params, changes: body }, command, options(expectedRevision))),
    }),
    defineRoute({
      method: 'DELETE',
      path,
      name: 'deleteStorage',
      tag: 'Storages',
      summary: 'Delete a storage, and destroy its credentials',
      access: accessMatrix.deleteStorage,
      request: { params: storageParams, query: noQuery, body: noBody },
      replies: { 204: { description: 'It is deleted.', schema: noContent } },
      errors: ['conflict'],
      ifMatch: true,
      handler: async ({ params, command, expectedRevision }) => {
        await deps.deleteStorage(params, command, options(expectedRevision));
        return { status: 204, body: undefined };
      },
    }),
    defineRoute({
      ...common,
      method: 'PUT',
      path: `${path}/credentials`,
      name: 'replaceStorageCredentials',
      summary: "Replace a storage's credentials",
      description: 'Those of an active storage serve until the new ones have passed a test (202).',
      access: accessMatrix.replaceStorageCredentials,
      request: { params: storageParams, query: noQuery, body: credentialsReplacement },
      replies: { 200: changed, 202: tested },
      errors: ['conflict'],
      ifMatch: true,
      handler: async ({ params, body: { credentials }, command, expectedRevision }) => {
        const input = { ...params, credentials };
        return replyOf(await deps.replaceStorageCredentials(input, command, options(expectedRevision)));
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: `${path}/test`,
      name: 'testStorage',
      summary: 'Test a storage: list, write, read by a signed URL, delete',
      access: accessMatrix.testStorage,
      request: { params: storageParams, query: noQuery, body: noFields },
      replies: { 202: { description: 'The test is under way.', schema: storage } },
      errors: ['conflict'],
      ifMatch: true,
      handler: async ({ params, command, expectedRevision }) => ({
        status: 202,
        ...presented(await deps.testStorage(params, command, options(expectedRevision))),
      }),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: `${path}/default`,
      name: 'chooseDefaultStorage',
      summary: "Make an active storage the project's default",
      access: accessMatrix.chooseDefaultStorage,
      request: { params: storageParams, query: noQuery, body: noFields },
      replies: { 200: changed },
      errors: ['conflict'],
      ifMatch: true,
      handler: async ({ params, command, expectedRevision }) => ({
        status: 200,
        ...presented(await deps.chooseDefaultStorage(params, command, options(expectedRevision))),
      }),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: `${path}/disable`,
      name: 'disableStorage',
      summary: 'Disable a storage: it serves nothing',
      access: accessMatrix.disableStorage,
      request: { params: storageParams, query: noQuery, body: noFields },
      replies: { 200: changed },
      errors: [],
      ifMatch: true,
      handler: async ({ params, command, expectedRevision }) => ({
        status: 200,
        ...presented(await deps.disableStorage(params, command, options(expectedRevision))),
      }),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: `${path}/enable`,
      name: 'enableStorage',
      summary: 'Enable a storage; it is pending until it is tested',
      access: accessMatrix.enableStorage,
      request: { params: storageParams, query: noQuery, body: noFields },
      replies: { 200: changed },
      errors: [],
      ifMatch: true,
      handler: async ({ params, command, expectedRevision }) => ({
        status: 200,
        ...presented(await deps.enableStorage(params, command, options(expectedRevision))),
      }),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: `${path}/delivery`,
      name: 'getDelivery',
      summary: 'How cdn_domain is used',
      access: accessMatrix.getDelivery,
      request: { params: storageParams, query: noQuery, body: noBody },
      replies: { 200: { description: 'The mode.', schema: delivery } },
      errors: [],
      handler: async ({ params: { projectId, storageId } }) => {
        const found = await storages.delivery(projectId, storageId);
        if (found === null) throw new HttpError('not_found', 'the storage does not exist');
        return { status: 200, body: found.resource, revision: found.revision };
      },
    }),
    defineRoute({
      ...common,
      method: 'PUT',
      path: `${path}/delivery`,
      name: 'changeDelivery',
      summary: 'Change how cdn_domain is used',
      access: accessMatrix.changeDelivery,
      request: { params: storageParams, query: noQuery, body: delivery },
      replies: { 200: { description: 'The mode.', schema: delivery } },
      errors: [],
      ifMatch: true,
      handler: async ({ params, body: { mode }, command, expectedRevision }) => {
        const { revision } = await deps.changeDelivery(
          { ...params, mode },
          command,
          options(expectedRevision),
        );
        return { status: 200, body: { mode }, revision };
      },
    }),
  ];
}

function replyOf({ resource, revision, isTested }: StorageChange) {
  const content = { body: resource, revision };
  return isTested ? { status: 202 as const, ...content } : { status: 200 as const, ...content };
}

function presented({ resource, revision }: Pick<StorageChange, 'resource' | 'revision'>) {
  return { body: resource, revision };
}

function options(expectedRevision: bigint | undefined): { readonly expectedRevision?: bigint } {
  return expectedRevision === undefined ? {} : { expectedRevision };
}
