import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Keyring, decodeBase64url } from '../rings/keyring.js';
import { KeyMissing } from '../sealing/errors.js';
import type { Digests, RandomBytes } from '../sealing/digests.js';
import { z } from 'zod';

/** Fields of tokens, as sources of regular expressions. */
export const uuidField = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
export const countField = '[1-9][0-9]{0,8}';
export const kidField = '[A-Za-z0-9-]{1,32}';
export const sha256Field = '[A-Za-z0-9_-]{43}';

/**
 * Makes tokens that no store holds: `<prefix>.<field>.….<mac>`, where the mac covers all before it. One field is the id of the key.
 * @param keys `REFRESH_KEYS`: its old keys outlast every session
 * @param options.purpose separates these macs from all others that the ring makes; null: the mac is of the text alone
 * @param options.fields in their order
 */
export function makeMacTokens<Name extends string>(
  keys: Keyring,
  options: {
    readonly prefix: string;
    readonly purpose: string | null;
    readonly fields: Readonly<Record<Name | 'kid', string>>;
  },
) {
  const { prefix, purpose, fields } = options;
  const names = Object.keys(fields) as (Name | 'kid')[];
  const groups = names.map((name) => String.raw`\.(?<${name}>${fields[name]})`).join('');
  const pattern = new RegExp(String.raw`^${prefix}${groups}\.(?<mac>${sha256Field})$`);
  return {
    /** @throws KeyMissing when the ring has no key of this id */
    issue: (values: Readonly<Record<Name | 'kid', string | number>>): string => {
      const key = keys.find(String(values.kid));
      if (key === undefined) throw new KeyMissing(`refresh key ${values.kid} is not in REFRESH_KEYS`);
      const body = [prefix, ...names.map((name) => values[name])].join('.');
      return `${body}.${macOf(key, body)}`;
    },
    /** Returns the fields of a token that the ring has made, or null. It compares in constant time. */
    verify: (token: string): Readonly<Record<Name | 'kid', string>> | null => {
      const found = pattern.exec(token)?.groups as Record<Name | 'kid' | 'mac', string> | undefined;
      const key = found === undefined ? undefined : keys.find(found.kid);
      if (found === undefined || key === undefined) return null;
      // Compares text, so that only the canonical spelling of the mac passes.
      const expected = macOf(key, token.slice(0, -found.mac.length - 1));
      return timingSafeEqual(Buffer.from(expected), Buffer.from(found.mac)) ? found : null;
    },
  };

  function macOf(key: Buffer, body: string): string {
    const text = purpose === null ? body : JSON.stringify([purpose, body]);
    return createHmac('sha256', key).update(text).digest('base64url');
  }
}

export const base62Alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns random characters with equal probabilities: it discards bytes beyond the largest multiple of 62. */
export function randomBase62(randomBytes: RandomBytes, length: number): string {
  const bound = 256 - (256 % base62Alphabet.length);
  let characters = '';
  while (characters.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < bound) characters += base62Alphabet.charAt(byte % base62Alphabet.length);
    }
  }
  return characters.slice(0, length);
}

/** Characters of a token: 131 random bits. */
const shareTokenLength = 22;

/** Makes the token of a new share, which its URL contains (src/areas/shares/README.md#rules-of-a-share). */
export function makeShareToken(randomBytes: RandomBytes): string {
  return randomBase62(randomBytes, shareTokenLength);
}

/** Returns the digest that finds a share. Every text has one, but only tokens of this service belong to a share. */
export function digestShareToken(digests: Pick<Digests, 'of'>, token: string): string {
  return digests.of('share-token', token);
}

/** The session of a visitor who gave the right password of a share. */
export interface ShareSession {
  readonly shareId: string;
  /** The access that began the session. */
  readonly accessId: string;
  /** The generation of the password that the visitor gave. A new password ends the session. */
  readonly passwordGeneration: number;
  /** The end, in whole milliseconds. */
  readonly endsAt: Date;
}

/**
 * Tokens of visitors' sessions (src/areas/shares/README.md#share-verification): `s1.<share id>.<access id>.<password generation>.<end,
 * epoch milliseconds>.<key id>.<mac>`. No store holds a session. The share decides whether that password still opens it.
 */
export type ShareSessions = ReturnType<typeof makeShareSessions>;

/** Makes the tokens. @param keys `REFRESH_KEYS`: its old keys outlast every session */
export function makeShareSessions(keys: Keyring) {
  const tokens = makeMacTokens(keys, {
    ...{ prefix: 's1', purpose: 'share session' },
    fields: {
      ...{ shareId: uuidField, accessId: uuidField, passwordGeneration: countField },
      ...{ end: '[1-9][0-9]{0,14}', kid: kidField },
    },
  });
  return {
    issue: ({ endsAt, ...session }: ShareSession) =>
      tokens.issue({ ...session, end: endsAt.getTime(), kid: keys.active().kid }),
    /** Returns the session of a token of this service that has not ended, or null. It runs in constant time. */
    verify: (token: string, now: Date): ShareSession | null => {
      const found = tokens.verify(token);
      if (found === null) return null;
      const { shareId, accessId, passwordGeneration, end } = found;
      const endsAt = new Date(Number(end));
      return now < endsAt
        ? { shareId, accessId, passwordGeneration: Number(passwordGeneration), endsAt }
        : null;
    },
  };
}

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

/** A device from which an account was signed in to. */
type NamedDevice = { readonly userId: string; readonly device_id: string };

/**
 * Tokens of devices (src/security/README.md#known-devices): `d1.<user id>.<device id>.<key id>.<mac>`. No store holds a token. The record of
 * the account says whether the device is known, and a token of no account costs no look-up.
 */
export type DeviceTokens = ReturnType<typeof makeDeviceTokens>;

/** Makes the tokens. @param keys `REFRESH_KEYS`: its old keys are kept for 90 days, as long as a device is known */
export function makeDeviceTokens(keys: Keyring) {
  const tokens = makeMacTokens(keys, {
    ...{ prefix: 'd1', purpose: 'device' },
    fields: { userId: uuidField, device_id: uuidField, kid: kidField },
  });
  return {
    issue: ({ userId, device_id }: NamedDevice) =>
      tokens.issue({ userId, device_id, kid: keys.active().kid }),
    /** Returns the device of a token of this service, or null. It runs in constant time. */
    verify: (token: string): NamedDevice | null => {
      const found = tokens.verify(token);
      return found === null ? null : { userId: found.userId, device_id: found.device_id };
    },
  };
}
