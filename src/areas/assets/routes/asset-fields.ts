import { z } from 'zod';
import { orderedQuery, searchText } from '../../../../projections/paging.js';
import { assetResource, assetSorts } from '../../../../projections/assets/assets/resource.js';
import { assetRules } from '../commands/add-asset.js';
import { ruled } from '../../../validation/zod-problems.js';
import { namePattern, objectKeyPattern } from '../../../validation/text.js';

const text = z.string().max(2048);
export const assetName = text.check(ruled(assetRules.name)).meta({
  minLength: 1,
  maxLength: 255,
  pattern: namePattern,
  examples: ['Rhine at dawn'],
});
export const objectKey = text.check(ruled(assetRules.objectKey)).meta({
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
export const mediaType = text.check(ruled(assetRules.mediaType)).meta({
  id: 'MediaType',
  maxLength: 255,
  pattern: `^${restrictedName}/${restrictedName}([ \\t]*;[ \\t]*${token}=(${token}|"[ !#-\\[\\]-~]*"))*$`,
  description: 'RFC 6838, with parameters or without.',
  examples: ['video/mp4'],
});

export const fileSize = z
  .int()
  .min(0)
  .check(ruled(assetRules.size))
  .meta({ maximum: 5_497_558_138_880, description: 'Bytes.' });

export const assetTags = z
  .array(
    text
      .check(ruled(assetRules.tag))
      .meta({ minLength: 1, maxLength: 50, pattern: namePattern, examples: ['rivers'] }),
  )
  .max(20)
  .meta({ description: 'Each once; capitals do not count.' });

const language = text.nullable().meta({
  description: 'For `subtitles` only, and needed there: a language tag (BCP 47).',
  examples: ['de'],
});

/** The fields of a rendition, except its kind and language. */
export const renditionFile = { object_key: objectKey, media_type: mediaType, size: fileSize };

export const renditionFields = z.strictObject({
  kind: text.check(ruled(assetRules.kind)).meta({ pattern: '^[a-z0-9_-]{1,32}$', examples: ['thumbnail'] }),
  ...renditionFile,
  language: language.optional(),
});

export const assetQuery = orderedQuery(assetSorts).extend({
  q: searchText.optional(),
  media_type: z
    .string()
    .max(255)
    .regex(/^[^/;*\s]+\/(?:\*|[^/;*\s]+)$/, 'must be a media type without parameters, or one such as video/*')
    .optional()
    .meta({ examples: ['video/*'] }),
  tag: z.string().min(1).max(50).optional().meta({ description: 'Capitals do not count.' }),
  created_after: z.iso.datetime({ offset: true }).optional(),
  upload: assetResource.shape.upload.optional().meta({ description: 'Only assets with this upload status.' }),
});
