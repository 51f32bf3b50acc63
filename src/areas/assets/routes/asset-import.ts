import { namedObject } from '../../../validation/fields.js';
import { z } from 'zod';
import { assetResource } from '../../../../projections/assets/assets/resource.js';
import type { AssetCommands } from '../commands/index.js';
import { type ImportCursor, skipReasons } from '../commands/import-assets.js';
import { type Route, json, ok, routesOf } from '../../../http/route.js';
import { assetsPath } from './assets.js';
import { projectParams } from '../../projects/routes/projects.js';
import { parseJson } from '../../../kit/parse.js';

const wholeKeyMax = 1_024;

/** URLs have no form for half a surrogate pair. */
const wellFormed = z.string().refine((text) => text.isWellFormed());

const cursorState = z
  .tuple([
    wellFormed.min(1).nullable(),
    wellFormed.nullable(),
    wellFormed.nullable(),
    z.int().min(1),
    z.int().min(1),
  ])
  .transform(([token, read, seen, left, pages]): ImportCursor => ({
    token,
    read,
    seen: { token: seen, left, pages },
  }));

function writeCursor({ token, read, seen }: ImportCursor): string {
  return Buffer.from(JSON.stringify([token, read, seen.token, seen.left, seen.pages])).toString('base64url');
}

/** Two tokens of 2,048 bytes and a key of 3,072, in JSON and base64. */
const cursor = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,20000}$/)
  .transform((text, ctx) => {
    const state = cursorState.safeParse(parseJson(Buffer.from(text, 'base64url').toString()));
    if (state.success) return state.data;
    ctx.addIssue({ code: 'custom', message: 'is not the next_cursor of an import' });
    return z.NEVER;
  });

const assetImport = namedObject('AssetImport', {
  storage_id: z.uuid().toLowerCase(),
  prefix: z
    .string()
    .max(wholeKeyMax)
    .meta({
      description: "The beginning of the keys below the storage's base_path; left out: all.",
      examples: ['2026/'],
    })
    .optional(),
  cursor: cursor.optional().describe('`next_cursor` of the page before.'),
  limit: z
    .int()
    .min(1)
    .max(200)
    .describe('How many objects the page lists at most; left out: 100.')
    .optional(),
});

const importedAssets = namedObject('ImportedAssets', {
  added: z.array(assetResource),
  skipped: z.array(
    z.strictObject({
      object_key: z.string(),
      reason: z
        .enum(skipReasons)
        .describe(
          '`not_a_file`: the key ends with a slash. `being_deleted`: the object of a removed asset. `key_not_possible`: no UTF-8, or see `object_key` of an asset. `key_unconfirmed`: the bucket has no such object under the listed key, or gave no answer about it.',
        ),
    }),
  ),
  next_cursor: z.string().nullable().describe('Null on the last page.'),
});

/** Makes the route that adds the objects of a bucket (src/areas/assets/README.md#importing). */
export function makeAssetImportRoutes({ importAssets }: AssetCommands): readonly Route[] {
  return [
    routesOf({ tag: 'Assets' })('importAssets', `POST ${assetsPath}/import`, {
      summary: 'List a page of a bucket and add an asset for each object that has none',
      description:
        'The key of the storage needs the right to list. A page may end early, or be empty, with a `next_cursor`. A repeated page adds nothing twice. After 409 `cursor_expired`, begin again without a cursor. When the capacity ends, the message of the 409 says how many objects were added.',
      request: { params: projectParams, body: assetImport },
      replies: { 200: json('What the page added and skipped.', importedAssets) },
      errors: ['conflict', 'cursor_expired', 'capacity_exceeded', 'bucket_unavailable'],
      handler: async ({ params: { projectId }, body, command }) => {
        const { storage_id: storageId, prefix = '', cursor: from = null, limit = 100 } = body;
        const page = await importAssets({ projectId, storageId, prefix, cursor: from, limit }, command);
        return ok({
          added: [...page.added],
          skipped: [...page.skipped],
          next_cursor: page.next === null ? null : writeCursor(page.next),
        });
      },
    }),
  ];
}
