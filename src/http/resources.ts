import { z } from 'zod';
import { sessionResource } from '../../projections/accounts/sessions/reader.js';
import { userResource } from '../../projections/accounts/users/resource.js';
import { instant, namedObject } from '../validation/fields.js';

/** `tokens` (src/areas/accounts/README.md#rules-of-an-account); times in seconds. */
export const tokens = namedObject('Tokens', {
  access_token: z.string(),
  refresh_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int().positive(),
  refresh_expires_in: z.int().positive(),
});

/** Makes later sign-ins from the client those of a known device. */
export const deviceToken = z.string().describe('For later sign-ins.');

/** `data` of a sign-in (src/areas/accounts/README.md#rules-of-an-account). `device_token`: null while it needs a second factor. */
export const signedIn = namedObject('SignedIn', {
  user: userResource,
  tokens,
  device_token: deviceToken.nullable(),
});

const { id, ...ofSession } = sessionResource.shape;

/** One of the caller's sessions (src/areas/accounts/README.md#sessions). */
export const session = namedObject('Session', {
  id,
  current: z.boolean().describe('The one that asks.'),
  ...ofSession,
});

/** A URL of one of an asset's files (src/areas/shares/README.md#media-urls). */
export const mediaLink = namedObject('MediaLink', {
  kind: z.string().describe('`original`, or the kind of a rendition.'),
  url: z.string(),
  inline_url: z
    .string()
    .optional()
    .describe('Only of a PDF or a text in a share: a URL that shows it, where `url` may save it.'),
  method: z.literal('GET'),
  media_type: z.string(),
  language: z.string().optional().describe('Of subtitles (BCP 47).'),
  expires_at: instant,
});

const ok = z.literal('ok').meta({ id: 'Ok' });

/** Makes the schema of a reply in the generic wrapper (docs/api.md#24-generic-response-wrapper). */
export function wrapped<Data extends z.ZodType>(data: Data) {
  const id = z.globalRegistry.get(data)?.id;
  if (id === undefined) return wrapperOf(data);
  // Operations with the same data share one component of the document.
  const known = wrappers.get(data) ?? wrapperOf(data).meta({ id: `${id}Reply` });
  wrappers.set(data, known);
  return known as ReturnType<typeof wrapperOf<Data>>;
}

const wrappers = new WeakMap<z.ZodType, z.ZodType>();

function wrapperOf<Data extends z.ZodType>(data: Data) {
  return z.strictObject({ code: ok, message: ok, data });
}

export function wrap<Data>(data: Data): { code: 'ok'; message: 'ok'; data: Data } {
  return { code: 'ok', message: 'ok', data };
}
