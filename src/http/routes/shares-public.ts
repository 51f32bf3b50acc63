import { z } from 'zod';
import type { RenewShareMedia } from '../../commands/renew-share-media.js';
import type { OpenedShare, VerifyShare } from '../../commands/verify-share.js';
import { accessMatrix } from '../access-matrix.js';
import { mediaLink, wrap, wrapped } from '../resources.js';
import { noQuery } from '../route-spec.js';
import { defineRoute } from '../route.js';
import type { Route } from '../route.js';

const verification = z
  .strictObject({
    password: z.string().max(512).meta({ minLength: 1, maxLength: 128 }),
  })
  .meta({ id: 'ShareVerification' });

const renewal = z
  .strictObject({ share_session: z.string().min(1).max(512) })
  .meta({ id: 'ShareMediaRenewal' });

const time = z.iso.datetime({ precision: 3 });

/** What the right password opens: DESIGN 4.4. */
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

// Any text may be asked for: what is no token of ours is answered like one that opens nothing.
const tokenParams = z.object({ token: z.string() });
const common = { method: 'POST', tag: 'Shares', cacheControl: 'no-store' } as const;

/** Shares, as visitors open them: API document 4.6, DESIGN 4.4. */
export function makePublicShareRoutes({
  verifyShare,
  renewShareMedia,
}: {
  readonly verifyShare: VerifyShare;
  readonly renewShareMedia: RenewShareMedia;
}): readonly Route[] {
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
      access: accessMatrix.verifyShare,
      request: { params: tokenParams, query: noQuery, body: verification },
      replies: {
        200: { description: 'The asset and its URLs.', schema: wrapped(openedShare) },
      },
      errors: ['invalid_credentials', 'too_many_attempts', 'password_not_checkable'],
      limit: { name: 'share_verify', counts: 'all' },
      idempotent: 'anew',
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
      access: accessMatrix.renewShareMedia,
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
      expires_at: share.expiresAt?.toISOString() ?? null,
      remaining_uses: remainingUses,
      allow_download: share.allowDownload,
    },
    asset: { id, name, kind: kindOf(media_type), media_type, size, created_at },
    media,
    share_session: session,
    expires_at: sessionEndsAt.toISOString(),
  };
}

/** How a visitor takes it in. */
function kindOf(mediaType: string): 'image' | 'video' | 'audio' | 'file' {
  const [kind] = mediaType.toLowerCase().split('/');
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'file';
}
