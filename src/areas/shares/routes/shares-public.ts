import { namedObject } from '../../../validation/fields.js';
import type { ShareCommands } from '../commands/index.js';
import { type OpenedShare, checkTriedPassword } from '../commands/visiting/verify-share.js';
import { z } from 'zod';
import { judged } from '../../../validation/zod-problems.js';
import type { AssetResource } from '../../../../projections/assets/assets/resource.js';
import { mediaLink, wrap, wrapped } from '../../../http/resources.js';
import { ignoredQuery } from '../../../http/route-spec.js';
import { type Route, json, ok, routesOf, typed } from '../../../http/route.js';
import { framedBy, makeSharePage } from '../page/share-page.js';

/** Makes the route of the page that opens shares (src/areas/shares/README.md#share-page). @param allowsHttp see `makeSharePage` */
export function makeSharePageRoutes(
  deps: ShareCommands & { readonly allowsHttp: boolean },
): readonly Route[] {
  const { allowsHttp, findFraming } = deps;
  const page = makeSharePage({ allowsHttp });
  return [
    routesOf({ tag: 'Shares' })('getSharePage', 'GET /s/:token', {
      summary: 'The page that asks for a share’s password and shows its media',
      description:
        'It is the same for every token. `Accept-Language` selects its language. ' +
        'Pages of the origins in `frame_ancestors` may show that of an open share.',
      request: { params: z.object({ token: z.string() }), query: ignoredQuery },
      replies: { 200: typed('text/html', 'HTML.') },
      entityTag: true,
      handler: async ({ params: { token }, acceptLanguage }) => ({
        status: 200,
        prepared: framedBy(page(acceptLanguage), await findFraming(token)),
      }),
    }),
  ];
}

const verification = namedObject('ShareVerification', {
  password: z
    .string()
    .max(512)
    .check(judged(checkTriedPassword))
    .nullable()
    .meta({ minLength: 1, maxLength: 128, description: 'Null for a share without a password.' }),
  share_session: z.string().max(512).describe('Of an earlier visit, also one that has ended.').optional(),
});

const renewal = namedObject('ShareMediaRenewal', {
  share_session: z.string().min(1).max(512),
  download: z
    .uuid()
    .toLowerCase()
    .optional()
    .describe('The id of the asset whose file the visitor saves now. It counts once in a session.'),
});

const time = z.iso.datetime({ precision: 3 });

const mediaKind = z.enum(['image', 'video', 'audio', 'file']).meta({ id: 'MediaKind' });

const sharedAsset = {
  id: z.uuid(),
  name: z.string(),
  kind: mediaKind,
  media_type: z.string(),
  size: z.int(),
  created_at: time,
};

/** The reply before the password. */
const sharedPlace = namedObject('SharedPlace', {
  password_required: z.boolean(),
  limited_uses: z.boolean().describe('Opening it counts a use; do so only at the wish of a person.'),
  project: z.strictObject({ name: z.string(), accent_color: z.string().nullable().describe('`#rrggbb`.') }),
});

/** The reply to the right password (src/areas/shares/README.md#share-verification). */
const openedShare = namedObject('OpenedShare', {
  share: z.strictObject({
    name: z.string().describe("The first asset's."),
    title: z.string().nullable(),
    note: z.string().nullable(),
    sender: z.string().nullable().describe('The nickname of the sharer, where the share has `show_sender`.'),
    expires_at: time.nullable(),
    remaining_uses: z.int().nullable().describe('Null where uses are not limited.'),
    allow_download: z.boolean(),
  }),
  asset: z.strictObject(sharedAsset).describe('The first asset.'),
  media: z.array(mediaLink).describe("The first asset's."),
  assets: z
    .array(z.strictObject({ ...sharedAsset, media: z.array(mediaLink) }))
    .describe('All assets of the share that are served, in its order.'),
  share_session: z.string().describe('For fresh URLs, without the password.'),
  expires_at: time.describe('When `share_session` ends: in 12 hours, or with the share.'),
});

const renewedMedia = namedObject('RenewedShareMedia', {
  media: z.array(mediaLink).describe("The first asset's."),
  assets: z.array(z.strictObject({ id: z.uuid(), media: z.array(mediaLink) })),
  expires_at: time.describe('When the session ends.'),
});

// Every text is accepted as a token, so an invalid token gets the same reply as one that opens nothing.
const tokenParams = z.object({ token: z.string() });

/**
 * Makes visitors' routes (src/areas/shares/README.md#share-verification, docs/api.md#46-post-apiv1sharestokenverify), and that of HLS
 * playlists (src/areas/assets/README.md#playlists).
 */
export function makePublicShareRoutes(deps: ShareCommands): readonly Route[] {
  const { describeShared, verifyShare, visitorOf, renewShareMedia, servePlaylist } = deps;
  const route = routesOf({ tag: 'Shares', path: '/api/v1/shares/:token', params: tokenParams });
  return [
    route('describeShare', 'GET', {
      cacheControl: 'no-store',
      summary: 'The project of a share, and whether the share needs a password',
      description: 'It is 404 whenever `verify` is.',
      replies: { 200: json('The project.', wrapped(sharedPlace)) },
      errors: ['not_found'],
      limit: { name: 'share_describe', counts: 'all' },
      handler: async ({ params: { token } }) => ok(wrap(await describeShared(token))),
    }),
    route('verifyShare', 'POST /verify', {
      summary: "Give a share's password, and receive its asset and signed URLs",
      description:
        'A share that does not exist, has expired, was revoked or used up, or whose media cannot be served, is 404 alike. To a visitor ' +
        'with a `share_session` of it, the `reason` is `used_up`, `expired` or `withdrawn`. After 5 ' +
        'wrong passwords for one share from one client further tries have to wait: 1 minute, doubling to 1 hour. With an ' +
        'Idempotency-Key a repetition checks the password again, signs afresh, and counts as one use together with the first.',
      request: { body: verification },
      replies: { 200: json('The asset and its URLs.', wrapped(openedShare)) },
      errors: ['invalid_credentials', 'too_many_attempts', 'password_not_checkable'],
      limit: { name: 'share_verify', counts: 'all' },
      idempotent: 'rerun',
      deviceOf: ({ params: { token }, body }) => visitorOf({ token, session: body.share_session }),
      handler: async ({ params: { token }, body, trying: client, command }) => {
        const { password, share_session: session } = body;
        return ok(wrap(present(await verifyShare({ token, password, session, client }, command))));
      },
    }),
    route('renewShareMedia', 'POST /media', {
      summary: 'Fresh media URLs of an opened share',
      description:
        'URLs live for 15 to 20 minutes. With `download` it also counts a download (403 where the share allows none). A session is over (401) once it has ended, the share was revoked, or its password changed.',
      request: { body: renewal },
      replies: { 200: json('The URLs.', wrapped(renewedMedia)) },
      errors: ['invalid_credentials', 'forbidden'],
      limit: { name: 'share_media', counts: 'all' },
      handler: async ({ params: { token }, body, command }) => {
        const input = { token, session: body.share_session, download: body.download ?? null };
        const { assets: signed, sessionEndsAt } = await renewShareMedia(input, command);
        const assets = signed.map(({ assetId: id, media }) => ({ id, media }));
        const { media } = signed[0];
        return ok(wrap({ media, assets, expires_at: sessionEndsAt.toISOString() }));
      },
    }),
    routesOf({ tag: 'Shares' })('getPlaylist', 'GET /api/v1/hls/:token/playlist.m3u8', {
      summary: 'An HLS playlist with signed URLs',
      description:
        'The URL is that of a rendition `hls` in `media`. Segments have signed URLs of the bucket for 15 to 20 minutes. Pages of every origin may fetch it. It is 404 once the share has ended.',
      request: { params: tokenParams, query: ignoredQuery },
      replies: { 200: typed('application/vnd.apple.mpegurl', 'A playlist (RFC 8216).') },
      errors: ['not_found', 'conflict', 'bucket_unavailable'],
      limit: { name: 'playlist', counts: 'all' },
      entityTag: true,
      handler: async ({ params: { token } }) => {
        const { bytes, digest, maxAgeSeconds } = await servePlaylist(token);
        const cacheControl = `private, max-age=${maxAgeSeconds}` as const;
        return { status: 200, prepared: { bytes, tag: `"${digest}"`, cacheControl, isForAllOrigins: true } };
      },
    }),
  ];
}

function present(opened: OpenedShare): z.output<typeof openedShare> {
  const { share, title, note, sender, remaining_uses, assets, session, sessionEndsAt } = opened;
  const [{ asset, media }] = assets;
  return {
    share: {
      name: asset.name,
      ...{ title, note, sender },
      expires_at: share.expires_at,
      remaining_uses,
      allow_download: share.allow_download,
    },
    asset: presentAsset(asset),
    media,
    assets: assets.map((opened) => ({ ...presentAsset(opened.asset), media: opened.media })),
    share_session: session,
    expires_at: sessionEndsAt.toISOString(),
  };
}

function presentAsset({ id, name, media_type, size, created_at }: AssetResource) {
  return { id, name, kind: kindOf(media_type), media_type, size, created_at };
}

function kindOf(mediaType: string): 'image' | 'video' | 'audio' | 'file' {
  const [kind] = mediaType.toLowerCase().split('/');
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'file';
}
