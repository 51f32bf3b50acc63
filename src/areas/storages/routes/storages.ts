import type { StorageDeps } from '../deps.js';
import type { StorageCommands } from '../commands/index.js';
import { z } from 'zod';
import type { Page } from '../../../event-sourcing/views/views.js';
import { storageRules } from '../commands/create-storage.js';
import { besideOthers, ruled } from '../../../validation/zod-problems.js';
import {
  creationQuery,
  pageOf,
  pageQuery,
  readCreationPage,
  readPage,
} from '../../../../projections/paging.js';
import {
  storageResource,
  undeletedResource,
  type UndeletedResource,
} from '../../../../projections/storages/storage-configs/resource.js';
import { folderPattern, namePattern, trimmedPattern } from '../../../validation/text.js';
import { type Route, created, current, json, missing, ok, routesOf } from '../../../http/route.js';
import { projectParams } from '../../projects/routes/projects.js';

const text = z.string().max(2048);
const credential = z
  .string()
  .max(1024)
  .check(ruled(storageRules.credential))
  .meta({ id: 'Credential', minLength: 1, pattern: trimmedPattern, format: 'password' });

/** Credentials with each provider's names (docs/api.md#22-storage-creation-request). */
const keyPair = z
  .strictObject({ access_key: credential, secret_key: credential })
  .meta({ id: 'StorageKeyPair', description: 'The credentials of oss and s3.' });
export const storageCredentials = {
  oss: keyPair,
  s3: keyPair,
  cos: z
    .strictObject({ secret_id: credential, secret_key: credential })
    .meta({ id: 'StorageKeyPairCos', description: 'The credentials of cos.' }),
};

/** The fields of all providers. The domain checks the rules beyond their shape. */
export const storageFields = {
  name: text.check(ruled(storageRules.name)).meta({
    id: 'StorageName',
    ...{ minLength: 1, maxLength: 64, pattern: namePattern, examples: ['Originals'] },
  }),
  bucket: text.meta({ id: 'StorageBucket', minLength: 3, maxLength: 63, examples: ['originals-1250000000'] }),
  endpoint: text
    .check(ruled(storageRules.endpoint))
    .meta({
      id: 'StorageEndpoint',
      description:
        'An origin, such as https://s3.eu-west-1.amazonaws.com. For oss and cos, it may be the domain that is bound to the bucket. For s3, a host that begins with the bucket has it in the host, and any other host in the path.',
    })
    .optional(),
  public_endpoint: text
    .check(ruled(storageRules.endpoint))
    .meta({
      id: 'StoragePublicEndpoint',
      description:
        'The origin that browsers use in place of endpoint, in upload and media URLs, where they cannot reach the endpoint.',
    })
    .optional(),
  region: text
    .meta({
      id: 'StorageRegion',
      description:
        'For cos, a region or a full endpoint is needed. For oss, an endpoint that does not name the region needs it.',
    })
    .optional(),
  base_path: text
    .meta({
      id: 'StorageBasePath',
      pattern: folderPattern,
      description: 'The folder that all keys begin with.',
    })
    .optional(),
  cdn_domain: text
    .check(ruled(storageRules.cdnDomain))
    .meta({ id: 'StorageCdnDomain', description: 'A host.' })
    .optional(),
};

function creationOf<Provider extends keyof typeof storageCredentials>(provider: Provider, id: string) {
  return z
    .strictObject({
      provider: z.literal(provider),
      ...storageFields,
      credentials: storageCredentials[provider],
    })
    .check(besideOthers(({ bucket }) => storageRules.bucket(provider, bucket)))
    .meta({ id });
}

/** The storage creation request (docs/api.md#22-storage-creation-request). */
const storageCreation = z
  .discriminatedUnion('provider', [
    creationOf('oss', 'StorageCreationOss'),
    creationOf('cos', 'StorageCreationCos'),
    creationOf('s3', 'StorageCreationS3'),
  ])
  .meta({ id: 'StorageCreation' });

const storageQuery = creationQuery.extend({
  status: storageResource.shape.status.optional(),
  provider: storageResource.shape.provider.optional(),
});

export const storageParams = projectParams.extend({ storageId: z.uuid().toLowerCase() });
export const storagesPath = '/api/v1/projects/:projectId/storages';

/** The objects of removed assets, which are of an area above this one. */
interface UndeletedObjects {
  readonly assets: {
    undeletedIn(
      storageId: string,
      page: Page,
    ): Promise<readonly (UndeletedResource & { readonly id: string })[]>;
  };
}

/**
 * Makes the routes of storages (src/areas/storages/README.md#rules-of-a-storage, docs/api.md#41-post-apiv1projectsprojectidstorages,
 * docs/api.md#42-get-apiv1projectsprojectidstoragesstorageid).
 */
export function makeStorageRoutes(
  deps: StorageCommands & Pick<StorageDeps, 'storages'> & UndeletedObjects,
): readonly Route[] {
  const { checkNewStorage, createStorage, storages, assets } = deps;
  const route = routesOf({ tag: 'Storages', params: projectParams });
  return [
    route('createStorage', `POST ${storagesPath}`, {
      summary: 'Bind a storage to a project',
      request: { body: storageCreation },
      replies: { 201: json('The configuration, `pending` until it is tested.', storageResource) },
      errors: ['conflict'],
      entityTag: true,
      idempotent: true,
      isGone: async ({ id }, { params: { projectId } }) => (await storages.find(projectId, id)) === null,
      check: ({ body }) => checkNewStorage(body),
      handler: async ({ project, body, command }) =>
        created(
          await createStorage({ ...body, project }, command),
          `/api/v1/projects/${project.id}/storages`,
        ),
    }),
    route('listStorages', `GET ${storagesPath}`, {
      summary: "A project's storages, newest first",
      request: { query: storageQuery },
      replies: { 200: json('A page of configurations.', pageOf(storageResource)) },
      handler: async ({ project, query: { status, provider, ...query } }) =>
        ok(await readCreationPage(query, (page) => storages.page(project, page, { status, provider }))),
    }),
    route('listUndeletedObjects', `GET ${storagesPath}/:storageId/undeleted-objects`, {
      summary: 'Objects of removed assets that are still in the bucket, newest first',
      description:
        'Of assets that were removed with `?object=delete`. The service tries once a day, 7 times in all; what is listed after that stays in the bucket.',
      request: { params: storageParams, query: pageQuery },
      replies: { 200: json('A page of removed assets.', pageOf(undeletedResource)) },
      handler: async ({ params: { storageId }, query, project }) => {
        if ((await storages.find(project.id, storageId, project)) === null)
          missing('the storage does not exist');
        const { items, next_cursor } = await readPage(query, (page) => assets.undeletedIn(storageId, page));
        return ok({ items: items.map(({ id: _, ...item }) => item), next_cursor });
      },
    }),
    route('getStorage', `GET ${storagesPath}/:storageId`, {
      summary: 'One storage configuration',
      request: { params: storageParams },
      replies: { 200: json('The configuration.', storageResource) },
      entityTag: true,
      wanted: ({ storageId }) => storages.wanted(storageId),
      handler: async ({ params: { projectId, storageId }, project, found }) =>
        current(
          (await storages.find(projectId, storageId, project, found)) ??
            missing('the storage does not exist'),
        ),
    }),
  ];
}
