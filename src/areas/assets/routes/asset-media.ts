import type { AssetCommands } from '../commands/index.js';
import { z } from 'zod';
import { assetResource } from '../../../../projections/assets/assets/resource.js';
import { hexDigest, namedObject } from '../../../validation/fields.js';
import { mediaLink } from '../../../http/resources.js';
import { type Route, current, json, ok, routesOf } from '../../../http/route.js';
import { assetParams, assetsPath } from './assets.js';
import { uploadUrl } from '../commands/uploads/issue-upload-url.js';

const uploadRequest = namedObject('UploadRequest', {
  rendition: z
    .string()
    .max(32)
    .describe("The kind of a rendition; left out: the asset's own file.")
    .optional(),
  language: z
    .string()
    .max(35)
    .describe('Of subtitles, where the asset has them in several languages.')
    .optional(),
});

const uploadConfirmation = namedObject('UploadConfirmation', {
  sha256: hexDigest.describe('SHA-256 of the file in hexadecimal, where the client computed it.').optional(),
});

const mediaRequest = namedObject('MediaRequest', {
  disposition: z
    .enum(['inline', 'attachment'])
    .describe(
      'Whether browsers are to show the files (the default) or to save them. What could run scripts is always saved.',
    )
    .optional(),
});

/** Makes the routes of assets' signed URLs (src/areas/shares/README.md#media-urls). */
export function makeAssetMediaRoutes(deps: AssetCommands): readonly Route[] {
  const { issueUploadUrl, confirmUpload, issueMediaLinks } = deps;
  const route = routesOf({ tag: 'Assets', params: assetParams });
  return [
    route('issueUploadUrl', `POST ${assetsPath}/:assetId/upload-url`, {
      summary: 'A URL to upload a file of an asset to, for 15 minutes',
      description:
        "Media type and size are signed. Refused while the assets of the project's payer are larger than their capacity.",
      request: { body: uploadRequest },
      replies: { 200: json('The request to make.', uploadUrl) },
      errors: ['conflict', 'capacity_exceeded'],
      handler: async ({ params, body: { rendition, language }, command }) =>
        ok(await issueUploadUrl({ ...params, rendition, language }, command)),
    }),
    route('confirmUpload', `POST ${assetsPath}/:assetId/uploaded`, {
      summary: 'Check whether the bucket has the file of an asset',
      description:
        'Shares open only for an asset whose `upload` is `complete`. The service also asks some time after each `upload-url`.',
      request: { body: uploadConfirmation },
      replies: { 200: json('The asset, with its new `upload`.', assetResource) },
      errors: ['conflict', 'bucket_unavailable'],
      entityTag: true,
      handler: async ({ params, body: { sha256 = null }, command }) =>
        current(await confirmUpload({ ...params, sha256 }, command)),
    }),
    route('issueMediaLinks', `POST ${assetsPath}/:assetId/media`, {
      summary: 'URLs to fetch the files of an asset from, for 15 minutes at least',
      request: { body: mediaRequest },
      replies: {
        200: json(
          'A URL for the own file (`original`) and for each rendition.',
          z.strictObject({ media: z.array(mediaLink) }),
        ),
      },
      errors: ['conflict'],
      handler: async ({ params, body: { disposition = 'inline' } }) =>
        ok({ media: await issueMediaLinks({ ...params, disposition }) }),
    }),
  ];
}
