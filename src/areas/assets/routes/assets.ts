import { namedObject } from '../../../validation/fields.js';
import type { AssetDeps } from '../deps.js';
import type { AssetCommands } from '../commands/index.js';
import { assetRules, checkNewAsset } from '../commands/add-asset.js';
import { z } from 'zod';
import { orderedQuery, pageOf, readOrderedPage, searchText } from '../../../../projections/paging.js';
import { assetResource, assetSorts } from '../../../../projections/assets/assets/resource.js';
import {
  type Route,
  created,
  current,
  empty,
  finished,
  json,
  missing,
  ok,
  routesOf,
} from '../../../http/route.js';
import { projectParams } from '../../projects/routes/projects.js';
import { ruled } from '../../../validation/zod-problems.js';
import { namePattern, objectKeyPattern } from '../../../validation/text.js';

const text = z.string().max(2048);
const assetName = text.check(ruled(assetRules.name)).meta({
  minLength: 1,
  maxLength: 255,
  pattern: namePattern,
  examples: ['Rhine at dawn'],
});
const objectKey = text.check(ruled(assetRules.objectKey)).meta({
  id: 'ObjectKey',
  minLength: 1,
  maxLength: 1024,
  pattern: objectKeyPattern,
  description:
    "Below the storage's base_path, without the segments . and .. For oss and cos, it must not begin with a slash or a backslash.",
  examples: ['2026/rhine.mp4'],
});
const restrictedName = '[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}';
const token = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const mediaType = text.check(ruled(assetRules.mediaType)).meta({
  id: 'MediaType',
  maxLength: 255,
  pattern: `^${restrictedName}/${restrictedName}([ \\t]*;[ \\t]*${token}=(${token}|"[ !#-\\[\\]-~]*"))*$`,
  description: 'RFC 6838, with parameters or without.',
  examples: ['video/mp4'],
});

const fileSize = z
  .int()
  .min(0)
  .check(ruled(assetRules.size))
  .meta({ maximum: 5_497_558_138_880, description: 'Bytes.' });

const assetTags = z
  .array(
    text
      .check(ruled(assetRules.tag))
      .meta({ minLength: 1, maxLength: 50, pattern: namePattern, examples: ['rivers'] }),
  )
  .max(20)
  .describe('Each once; capitals do not count.');

const language = text.nullable().meta({
  description: 'For `subtitles` only, and needed there: a language tag (BCP 47).',
  examples: ['de'],
});

export const renditionFields = z.strictObject({
  kind: text.check(ruled(assetRules.kind)).meta({ pattern: '^[a-z0-9_-]{1,32}$', examples: ['thumbnail'] }),
  object_key: objectKey,
  media_type: mediaType,
  size: fileSize,
  language: language.optional(),
});

const assetQuery = orderedQuery(assetSorts).extend({
  q: searchText.optional(),
  media_type: z
    .string()
    .max(255)
    .regex(/^[^/;*\s]+\/(?:\*|[^/;*\s]+)$/, 'must be a media type without parameters, or one such as video/*')
    .optional()
    .meta({ examples: ['video/*'] }),
  tag: z.string().min(1).max(50).optional().describe('Capitals do not count.'),
  created_after: z.iso.datetime({ offset: true }).optional(),
  upload: assetResource.shape.upload.optional().describe('Only assets with this upload status.'),
});

const assetCreation = namedObject('AssetCreation', {
  storage_id: z.uuid().toLowerCase().describe("Left out: the project's default storage.").optional(),
  name: assetName,
  object_key: objectKey.optional(),
  media_type: mediaType,
  size: fileSize,
  renditions: z
    .array(renditionFields)
    .max(20)
    .describe('Files made from it; each kind once, `subtitles` once in a language, and none is `original`.')
    .optional(),
  tags: assetTags.optional(),
});
const assetChange = z
  .strictObject({ name: assetName, tags: assetTags, media_type: mediaType, size: fileSize })
  .partial()
  .meta({ id: 'AssetChange' });

const removalQuery = z.object({
  object: z.literal('delete').optional().describe('Deletes the objects from the bucket too.'),
});

export const assetParams = projectParams.extend({ assetId: z.uuid().toLowerCase() });
export const assetsPath = '/api/v1/projects/:projectId/assets';

/** Makes the routes of assets (src/areas/assets/README.md#rules-of-an-asset). */
export function makeAssetRoutes(deps: AssetCommands & Pick<AssetDeps, 'assets'>): readonly Route[] {
  const { addAsset, changeAssetDescription, removeAsset, assets } = deps;
  const route = routesOf({ tag: 'Assets', params: assetParams });
  return [
    route('addAsset', `POST ${assetsPath}`, {
      summary: 'Add an asset to a project',
      description:
        "Says what is, or will be, stored where; without `object_key` under `<asset id>/<name>`; the files are then uploaded by `upload-url`. They count toward the capacity of the project's payer.",
      request: { params: projectParams, body: assetCreation },
      replies: { 201: json('The asset.', assetResource) },
      errors: ['conflict', 'capacity_exceeded', 'object_key_taken'],
      idempotent: true,
      isGone: async ({ id }, { params: { projectId } }) => (await assets.find(projectId, id)) === null,
      check: ({ body }) => checkNewAsset(factsOf(body)),
      entityTag: true,
      handler: async ({ caller, project, body, command }) => {
        const by = caller.kind === 'session' ? caller.user : undefined;
        const input = { ...factsOf(body), project, by, storageId: body.storage_id };
        return created(await addAsset(input, command), `/api/v1/projects/${project.id}/assets`);
      },
    }),
    route('listAssets', `GET ${assetsPath}`, {
      summary: "A project's assets, newest first",
      description:
        'All filters together select. A search examines 200 assets for a page: a page may have fewer items than `limit`, even none, and still a `next_cursor`.',
      request: { params: projectParams, query: assetQuery },
      replies: { 200: json('A page of assets.', pageOf(assetResource)) },
      handler: async ({ params: { projectId }, query: { limit, cursor, sort, ...filter } }) =>
        ok(
          await readOrderedPage({ limit, cursor, sort }, (page) =>
            assets.list(projectId, { filter, sort, ...page }),
          ),
        ),
    }),
    route('getAsset', `GET ${assetsPath}/:assetId`, {
      summary: 'One asset',
      replies: { 200: json('The asset.', assetResource) },
      entityTag: true,
      wanted: ({ assetId }) => assets.wanted(assetId),
      handler: async ({ params: { projectId, assetId }, found }) =>
        current((await assets.find(projectId, assetId, found)) ?? missing('the asset does not exist')),
    }),
    route('changeAsset', `PATCH ${assetsPath}/:assetId`, {
      summary: 'Change name, tags, media type or size of an asset',
      description:
        'Fields that are left out stay. A media type or size that differs is compared with the object that the bucket reported last.',
      request: { body: assetChange },
      replies: { 200: json('The asset.', assetResource) },
      errors: ['capacity_exceeded'],
      ifMatch: true,
      handler: async ({ params, body, command, expectedRevision }) =>
        current(await changeAssetDescription({ ...params, changes: body }, command, { expectedRevision })),
    }),
    route('deleteAsset', `DELETE ${assetsPath}/:assetId`, {
      summary: 'Remove an asset, and its objects with `?object=delete`',
      description:
        'With `object`, the service deletes the objects of the asset and its renditions after the reply, unless another asset has them. `undeleted-objects` of the storage lists those that it could not delete.',
      request: { query: removalQuery },
      replies: { 204: empty('It is removed.') },
      errors: ['conflict'],
      ifMatch: true,
      handler: ({ params, query, command, expectedRevision }) => {
        const deletesObjects = query.object === 'delete';
        return finished(removeAsset({ ...params, deletesObjects }, command, { expectedRevision }));
      },
    }),
  ];
}

function factsOf({ storage_id: _, renditions = [], ...facts }: z.output<typeof assetCreation>) {
  return { ...facts, renditions };
}
