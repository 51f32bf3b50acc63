import { z } from 'zod';
import { decodeBase64url, type Keyring } from '../rings/keyring.js';
import { kidField, makeMacTokens } from './mac-tokens.js';

/** The right to fetch one HLS playlist. */
export interface PlaylistGrant {
  readonly assetId: string;
  /** The key of the playlist below the base path of the asset's storage. */
  readonly objectKey: string;
  /** The share of the visitor; null for a member of the project. */
  readonly share: {
    readonly shareId: string;
    /** The generation of the password that the visitor gave. A new password ends the grant. */
    readonly passwordGeneration: number;
  } | null;
  /** The end, in whole seconds. */
  readonly endsAt: Date;
}

/**
 * Tokens in the URLs of playlists (src/areas/assets/README.md#playlists): `h1.<grant>.<key id>.<mac>`. The grant is JSON in base64url, and
 * no secret: the signed URLs of a bucket show the same key.
 */
export type PlaylistTokens = ReturnType<typeof makePlaylistTokens>;

const grantSchema = z.tuple([
  z.string(),
  z.string(),
  z.int().positive(),
  z.union([z.tuple([z.string(), z.int().positive()]), z.null()]),
]);

/** Makes the tokens. @param keys `REFRESH_KEYS`: its old keys outlast every session */
export function makePlaylistTokens(keys: Keyring) {
  const tokens = makeMacTokens(keys, {
    ...{ prefix: 'h1', purpose: 'playlist' },
    fields: { grant: '[A-Za-z0-9_-]{1,4000}', kid: kidField },
  });
  return {
    issue: ({ assetId, objectKey, share, endsAt }: PlaylistGrant): string => {
      const visit = share === null ? null : [share.shareId, share.passwordGeneration];
      const grant = JSON.stringify([assetId, objectKey, Math.floor(endsAt.getTime() / 1_000), visit]);
      return tokens.issue({ grant: Buffer.from(grant).toString('base64url'), kid: keys.active().kid });
    },
    /** Returns the grant of a token of this service that has not ended, or null. It compares in constant time. */
    verify: (token: string, now: Date): PlaylistGrant | null => {
      const json = decodeBase64url(tokens.verify(token)?.grant ?? '')?.toString('utf8');
      if (json === undefined) return null;
      const [assetId, objectKey, end, visit] = grantSchema.parse(JSON.parse(json));
      const endsAt = new Date(end * 1_000);
      const share = visit === null ? null : { shareId: visit[0], passwordGeneration: visit[1] };
      return now < endsAt ? { assetId, objectKey, share, endsAt } : null;
    },
  };
}
