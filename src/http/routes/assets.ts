import type { Commands } from '../../commands/index.js';
import { checkNewAsset } from '../../commands/assets/add-asset.js';
import type { Readers } from '../../../projections/readers.js';
import { z } from 'zod';
import { HttpError } from '../http-error.js';
import { pageOf, pageQuery, readPage } from '../../../projections/paging.js';
import { noContent } from '../reply.js';
import { assetResource } from '../../../projections/assets/resource.js';
import { namePattern, segmentsPattern } from '../../domain/text.js';
import { noBody, noQuery } from '../route-spec.js';
import { defineRoute, type Route } from '../route.js';
import { projectParams } from './projects.js';

const text = z.string().max(2048);
const name = text.meta({ minLength: 1, maxLength: 255, pattern: namePattern, examples: ['Rhine at dawn'] });
const objectKey = text.meta({
  minLength: 1,
  maxLength: 1024,
  pattern: segmentsPattern,
  description: "Below the storage's base_path, without empty segments, . and ..",
  examples: ['2026/rhine.mp4'],
});
const restrictedName = '[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}';
const token = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const mediaType = text.meta({
  maxLength: 255,
  pattern: `^${restrictedName}/${restrictedName}([ \\t]*;[ \\t]*${token}=(${token}|"[ !#-\\[\\]-~]*"))*$`,
  description: 'RFC 6838, with parameters or without.',
  examples: ['video/mp4'],
});

const fileSize = z.int().min(0).meta({ maximum: 5_497_558_138_880, description: 'Bytes.' });

const assetCreation = z
  .strictObject({
    storage_id: z
      .uuid()
      .toLowerCase()
      .meta({ description: "Left out: the project's default storage." })
      .optional(),
    name,
    object_key: objectKey,
    media_type: mediaType,
    size: fileSize,
    renditions: z
      .array(
        z.strictObject({
          kind: text.meta({ pattern: '^[a-z0-9_-]{1,32}$', examples: ['thumbnail'] }),
          object_key: objectKey,
          media_type: mediaType,
          size: fileSize,
        }),
      )
      .max(20)
      .meta({ description: 'Files made from it; each kind once, and none is `original`.' })
      .optional(),
  })
  .meta({ id: 'AssetCreation' });
const assetChange = z.strictObject({ name }).meta({ id: 'AssetChange' });

export const assetParams = projectParams.extend({ assetId: z.uuid().toLowerCase() });
export const assetsPath = '/api/v1/projects/:projectId/assets';

/** Makes the routes of assets (docs/design.md#assets). */
export function makeAssetRoutes({
  addAsset,
  renameAsset,
  removeAsset,
  assets,
}: Pick<Commands, 'addAsset' | 'renameAsset' | 'removeAsset'> & Pick<Readers, 'assets'>): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: assetsPath,
      name: 'addAsset',
      tag: 'Assets',
      summary: 'Add an asset to a project',
      description:
        "Says what is, or will be, stored where; the files are then uploaded by `upload-url`. They count toward the capacity of the project's payer.",
      request: { params: projectParams, query: noQuery, body: assetCreation },
      replies: { 201: { description: 'The asset.', schema: assetResource } },
      errors: ['conflict', 'capacity_exceeded'],
      idempotent: true,
      check: ({ body: { storage_id: _, renditions = [], ...facts } }) => {
        checkNewAsset({ ...facts, renditions });
      },
      entityTag: true,
      handler: async ({ params: { projectId }, body, command }) => {
        const { storage_id: storageId, renditions = [], ...facts } = body;
        const { resource, revision } = await addAsset(
          { ...facts, renditions, projectId, storageId },
          command,
        );
        const location = `/api/v1/projects/${projectId}/assets/${resource.id}`;
        return { status: 201, body: resource, revision, location };
      },
    }),
    defineRoute({
      method: 'GET',
      path: assetsPath,
      name: 'listAssets',
      tag: 'Assets',
      summary: "A project's assets, newest first",
      request: { params: projectParams, query: pageQuery, body: noBody },
      replies: { 200: { description: 'A page of assets.', schema: pageOf(assetResource) } },
      handler: async ({ params: { projectId }, query }) => ({
        status: 200,
        body: await readPage(query, async (page) =>
          (await assets.list(projectId, page)).map(({ resource }) => resource),
        ),
      }),
    }),
    defineRoute({
      method: 'GET',
      path: `${assetsPath}/:assetId`,
      name: 'getAsset',
      tag: 'Assets',
      summary: 'One asset',
      request: { params: assetParams, query: noQuery, body: noBody },
      replies: { 200: { description: 'The asset.', schema: assetResource } },
      entityTag: true,
      handler: async ({ params: { projectId, assetId } }) => {
        const found = await assets.find(projectId, assetId);
        if (found === null) throw new HttpError('not_found', 'the asset does not exist');
        return { status: 200, body: found.resource, revision: found.revision };
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: `${assetsPath}/:assetId`,
      name: 'changeAsset',
      tag: 'Assets',
      summary: 'Rename an asset',
      request: { params: assetParams, query: noQuery, body: assetChange },
      replies: { 200: { description: 'The asset.', schema: assetResource } },
      entityTag: true,
      ifMatch: true,
      handler: async ({ params, body, command, expectedRevision }) => {
        const { resource, revision } = await renameAsset({ ...params, name: body.name }, command, {
          expectedRevision,
        });
        return { status: 200, body: resource, revision };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${assetsPath}/:assetId`,
      name: 'deleteAsset',
      tag: 'Assets',
      summary: 'Remove an asset; its objects stay in the bucket',
      request: { params: assetParams, query: noQuery, body: noBody },
      replies: { 204: { description: 'It is removed.', schema: noContent } },
      ifMatch: true,
      handler: async ({ params, command, expectedRevision }) => {
        await removeAsset(params, command, { expectedRevision });
        return { status: 204, body: undefined };
      },
    }),
  ];
}
