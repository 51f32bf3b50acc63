import { z } from 'zod';
import { assetResource } from '../../../../projections/assets/assets/resource.js';
import type { AssetCommands } from '../commands/index.js';
import { noQuery } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { renditionFields } from './asset-fields.js';
import { assetParams, assetsPath } from './assets.js';

const renditionParams = assetParams.extend({ kind: z.string() });
const path = `${assetsPath}/:assetId/renditions/:kind`;
const rendition = renditionFields.omit({ kind: true }).meta({ id: 'AssetRendition' });
const language = z
  .string()
  .max(35)
  .optional()
  .meta({ description: 'Of the subtitles to remove (BCP 47).', examples: ['de'] });

/** Makes the routes of assets' renditions (docs/assets.md#renditions). */
export function makeAssetRenditionRoutes({
  putAssetRendition,
  removeAssetRendition,
}: Pick<AssetCommands, 'putAssetRendition' | 'removeAssetRendition'>): readonly Route[] {
  return [
    defineRoute({
      method: 'PUT',
      path,
      name: 'putAssetRendition',
      tag: 'Assets',
      summary: 'Add or replace a rendition of an asset, for example after transcoding',
      description:
        'An asset has one rendition of a kind, and `subtitles` one in each language. The object is then uploaded by `upload-url`, or is in the bucket already.',
      request: { params: renditionParams, query: noQuery, body: rendition },
      replies: { 200: { description: 'The asset.', schema: assetResource } },
      errors: ['conflict', 'capacity_exceeded', 'object_key_taken'],
      entityTag: true,
      ifMatch: true,
      handler: async ({ params: { kind, ...asset }, body, command, expectedRevision }) => {
        const input = { ...asset, rendition: { ...body, kind } };
        const { resource, revision } = await putAssetRendition(input, command, { expectedRevision });
        return { status: 200, body: resource, revision };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path,
      name: 'removeAssetRendition',
      tag: 'Assets',
      summary: 'Remove a rendition of an asset; its object stays in the bucket',
      request: { params: renditionParams, query: z.object({ language }), body: z.undefined() },
      replies: { 200: { description: 'The asset.', schema: assetResource } },
      entityTag: true,
      ifMatch: true,
      handler: async ({ params, query, command, expectedRevision }) => {
        const input = { ...params, language: query.language ?? null };
        const { resource, revision } = await removeAssetRendition(input, command, { expectedRevision });
        return { status: 200, body: resource, revision };
      },
    }),
  ];
}
