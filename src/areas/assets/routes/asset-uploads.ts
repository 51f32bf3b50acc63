import type { AssetCommands } from '../commands/index.js';
import { z } from 'zod';
import { assetResource } from '../../../../projections/assets/assets/resource.js';
import { multipartUpload } from '../commands/uploads/start-upload.js';
import { noFields } from '../../../http/route-spec.js';
import { type Route, current, empty, finished, json, ok, routesOf } from '../../../http/route.js';
import { assetParams, assetsPath, renditionFields } from './assets.js';

const renditionParams = assetParams.extend({ kind: z.string() });
const path = `${assetsPath}/:assetId/renditions/:kind`;
const rendition = renditionFields.omit({ kind: true }).meta({ id: 'AssetRendition' });
const language = z
  .string()
  .max(35)
  .optional()
  .meta({ description: 'Of the subtitles to remove (BCP 47).', examples: ['de'] });

const uploadParams = assetParams.extend({ uploadId: z.uuid().toLowerCase() });
const uploadsPath = `${assetsPath}/:assetId/uploads`;
const uploadPath = `${uploadsPath}/:uploadId`;

const partsQuery = z.object({
  after: z.coerce.number().int().min(0).max(10_000).default(0).describe('`next_after` of the page before.'),
  limit: z.coerce.number().int().min(1).max(1_000).default(100).describe('How many parts at most.'),
});

/**
 * Makes the routes of assets' renditions (docs/assets.md#renditions), and of uploads in parts
 * (src/areas/assets/README.md#multipart-uploads).
 */
export function makeAssetUploadRoutes(deps: AssetCommands): readonly Route[] {
  const { putAssetRendition, removeAssetRendition } = deps;
  const { startUpload, listUploadParts, isUploadOpen, completeUpload, abortUpload } = deps;
  const page = json('A page of the parts.', multipartUpload);
  const renditionRoute = routesOf({ tag: 'Assets', path, params: renditionParams });
  const route = routesOf({ tag: 'Assets', params: uploadParams });
  return [
    renditionRoute('putAssetRendition', 'PUT', {
      summary: 'Add or replace a rendition of an asset, for example after transcoding',
      description:
        'An asset has one rendition of a kind, and `subtitles` one in each language. The object is then uploaded by `upload-url`, or is in the bucket already.',
      request: { body: rendition },
      replies: { 200: json('The asset.', assetResource) },
      errors: ['conflict', 'capacity_exceeded', 'object_key_taken'],
      ifMatch: true,
      handler: async ({ params: { kind, ...asset }, body, command, expectedRevision }) =>
        current(
          await putAssetRendition({ ...asset, rendition: { ...body, kind } }, command, { expectedRevision }),
        ),
    }),
    renditionRoute('removeAssetRendition', 'DELETE', {
      summary: 'Remove a rendition of an asset; its object stays in the bucket',
      request: { query: z.object({ language }), body: z.undefined() },
      replies: { 200: json('The asset.', assetResource) },
      ifMatch: true,
      handler: async ({ params, query, command, expectedRevision }) =>
        current(
          await removeAssetRendition({ ...params, language: query.language ?? null }, command, {
            expectedRevision,
          }),
        ),
    }),
    route('startUpload', `POST ${uploadsPath}`, {
      summary: 'Start an upload in parts, up to 5 TiB',
      description: 'While an upload of the asset is open, the reply is that one.',
      request: { params: assetParams, query: partsQuery, body: noFields },
      replies: { 200: page },
      errors: ['conflict', 'capacity_exceeded', 'bucket_unavailable'],
      idempotent: true,
      isGone: async ({ id }, { params }) => !(await isUploadOpen({ ...params, uploadId: id })),
      handler: async ({ params, query, command }) => ok(await startUpload({ ...params, ...query }, command)),
    }),
    route('listUploadParts', `GET ${uploadPath}`, {
      summary: 'The parts of an upload: which the bucket has, and URLs for the others',
      request: { query: partsQuery },
      replies: { 200: page },
      errors: ['conflict', 'capacity_exceeded', 'bucket_unavailable'],
      handler: async ({ params, query }) => ok(await listUploadParts({ ...params, ...query })),
    }),
    route('completeUpload', `POST ${uploadPath}/complete`, {
      summary: 'Join the parts of an upload',
      description:
        'The service reads the entity tags of the parts from the bucket, and then asks for the object.',
      request: { body: noFields },
      replies: { 200: json('The asset, with its new `upload`.', assetResource) },
      errors: ['conflict', 'bucket_unavailable'],
      entityTag: true,
      handler: async ({ params, command }) => current(await completeUpload(params, command)),
    }),
    route('abortUpload', `DELETE ${uploadPath}`, {
      summary: 'Abort an upload; the bucket deletes its parts',
      replies: { 204: empty('It is aborted.') },
      errors: ['conflict', 'bucket_unavailable'],
      handler: ({ params, command }) => finished(abortUpload(params, command)),
    }),
  ];
}
