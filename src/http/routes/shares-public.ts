import type { Commands } from '../../commands/index.js';
import { checkVisit } from '../../commands/shares/verify-share.js';
import { z } from 'zod';
import type { OpenedShare } from '../../commands/shares/verify-share.js';
import { mediaLink, wrap, wrapped } from '../resources.js';
import { noQuery } from '../route-spec.js';
import { defineRoute, type Route } from '../route.js';

const verification = z
  .strictObject({
    password: z.string().max(512).meta({ minLength: 1, maxLength: 128 }),
  })
  .meta({ id: 'ShareVerification' });

const renewal = z
  .strictObject({ share_session: z.string().min(1).max(512) })
  .meta({ id: 'ShareMediaRenewal' });

const time = z.iso.datetime({ precision: 3 });

/** The reply to the right password (docs/design.md#share-verification). */
const openedShare = z
  .strictObject({
    share: z.strictObject({
      name: z.string().meta({ description: "The asset's." }),
      expires_at: time.nullable(),
      remaining_uses: z.int().nullable().meta({ description: 'Null where uses are not limited.' }),
      allow_download: z.boolean(),
    }),
    asset: z.strictObject({
      id: z.uuid(),
      name: z.string(),
      kind: z.enum(['image', 'video', 'audio', 'file']),
      media_type: z.string(),
      size: z.int(),
      created_at: time,
    }),
    media: z.array(mediaLink),
    share_session: z.string().meta({ description: 'For fresh URLs, without the password.' }),
    expires_at: time.meta({ description: 'When `share_session` ends: in 12 hours, or with the share.' }),
  })
  .meta({ id: 'OpenedShare' });

const renewedMedia = z
  .strictObject({
    media: z.array(mediaLink),
    expires_at: time.meta({ description: 'When the session ends.' }),
  })
  .meta({ id: 'RenewedShareMedia' });

// Every text is accepted as a token, so an invalid token gets the same reply as one that opens nothing.
const tokenParams = z.object({ token: z.string() });
const common = { method: 'POST', tag: 'Shares', cacheControl: 'no-store' } as const;

/** Makes visitors' routes (docs/design.md#share-verification, docs/api.md#46-post-apiv1sharestokenverify). */
export function makePublicShareRoutes({
  verifyShare,
  renewShareMedia,
}: Pick<Commands, 'verifyShare' | 'renewShareMedia'>): readonly Route[] {
  return [
    defineRoute({
      ...common,
      path: '/api/v1/shares/:token/verify',
      name: 'verifyShare',
      summary: "Give a share's password, and receive its asset and signed URLs",
      description:
        'A share that does not exist, has expired, was revoked or used up, or whose media cannot be served, is 404 alike. After 5 ' +
        'wrong passwords for one share from one client further tries have to wait: 1 minute, doubling to 1 hour. With an ' +
        'Idempotency-Key a repetition checks the password again, signs afresh, and counts as one use together with the first.',
      request: { params: tokenParams, query: noQuery, body: verification },
      replies: {
        200: { description: 'The asset and its URLs.', schema: wrapped(openedShare) },
      },
      errors: ['invalid_credentials', 'too_many_attempts', 'password_not_checkable'],
      limit: { name: 'share_verify', counts: 'all' },
      idempotent: 'rerun',
      check: ({ body }) => {
        checkVisit(body);
      },
      handler: async ({ params: { token }, body: { password }, client, command }) => {
        const opened = await verifyShare({ token, password, clientIp: client }, command);
        return { status: 200, body: wrap(present(opened)) };
      },
    }),
    defineRoute({
      ...common,
      path: '/api/v1/shares/:token/media',
      name: 'renewShareMedia',
      summary: 'Fresh URLs for a share that was opened',
      description:
        'URLs live for 15 to 20 minutes. A session is over (401) once it has ended, the share was revoked, or its password changed.',
      request: { params: tokenParams, query: noQuery, body: renewal },
      replies: { 200: { description: 'The URLs.', schema: wrapped(renewedMedia) } },
      errors: ['invalid_credentials'],
      limit: { name: 'share_media', counts: 'all' },
      handler: async ({ params: { token }, body: { share_session: session } }) => {
        const { media, sessionEndsAt } = await renewShareMedia({ token, session });
        return { status: 200, body: wrap({ media, expires_at: sessionEndsAt.toISOString() }) };
      },
    }),
  ];
}

function present({
  share,
  remainingUses,
  asset: { id, name, media_type, size, created_at },
  media,
  session,
  sessionEndsAt,
}: OpenedShare): z.output<typeof openedShare> {
  return {
    share: {
      name,
      expires_at: share.expires_at,
      remaining_uses: remainingUses,
      allow_download: share.allow_download,
    },
    asset: { id, name, kind: kindOf(media_type), media_type, size, created_at },
    media,
    share_session: session,
    expires_at: sessionEndsAt.toISOString(),
  };
}

function kindOf(mediaType: string): 'image' | 'video' | 'audio' | 'file' {
  const [kind] = mediaType.toLowerCase().split('/');
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'file';
}
