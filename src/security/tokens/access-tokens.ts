import { type KeyObject, createPrivateKey, createPublicKey, hash } from 'node:crypto';
import { type JWK, SignJWT, decodeJwt, errors, exportJWK, jwtVerify } from 'jose';
import { z } from 'zod';
import type { Clock } from '../../kit/time/clock.js';
import { makeLru } from '../../kit/lru.js';
import { type Keyring, decodeBase64url } from '../../keys/rings/keyring.js';

/** RFC 8410, section 7: the PKCS #8 wrapping of a 32-byte Ed25519 seed. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

type Ed25519KeyPair = { readonly privateKey: KeyObject; readonly publicKey: KeyObject };

/** Returns the key pair of a 32-byte seed (RFC 8032, section 5.1.5). */
export function ed25519KeyPair(seed: Buffer): Ed25519KeyPair {
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

export { jwksCacheSeconds } from '../../keys/rings/key-waiting-times.js';

/** Life of an access token in seconds. */
export const accessTokenSeconds = 600;

const algorithm = 'EdDSA';
const type = 'at+jwt';
const audience = 'stowage';
/** Seconds by which the clocks of two processes may differ. */
const toleranceSeconds = 5;
/** Maximum age of a token in seconds, regardless of its `exp`. */
const ageSecondsMax = 900;
const tokenLengthMax = 4_096;
const requiredClaims = ['sub', 'sid', 'jti', 'iat', 'exp', 'amr', 'auth_time'];

const claimsSchema = z.object({
  sub: z.string().min(1),
  sid: z.string().min(1),
  jti: z.string().min(1),
  iat: z.int().nonnegative(),
  exp: z.int().nonnegative(),
  amr: z.array(z.string()),
  auth_time: z.int().nonnegative(),
});

/** The claims of a valid token. Times in whole seconds. */
interface AccessClaims {
  readonly userId: string;
  readonly sessionId: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** What a new token says. */
interface AccessTokenInput extends Pick<AccessClaims, 'userId' | 'sessionId'> {
  /** The time of the user's last authentication. */
  readonly authenticatedAt: Date;
  /** The methods of the last authentication (RFC 8176: `pwd`, `otp` …). */
  readonly methods: readonly string[];
}

type AccessTokenVerdict =
  | { readonly valid: true; readonly claims: AccessClaims }
  | { readonly valid: false; readonly code: 'token_expired' | 'invalid_token' };

const cachedTokensMax = 10_000;

type Verified = { readonly claims: AccessClaims; readonly kid: string };

export type AccessTokens = ReturnType<typeof makeAccessTokens>;

/**
 * Signs and verifies access tokens: JWTs after RFC 9068, signed with EdDSA (RFC 8037).
 * @param deps.keys `JWT_KEYS`: Ed25519 seeds @param deps.issuer `PUBLIC_URL`
 */
export function makeAccessTokens(deps: {
  readonly keys: Keyring;
  readonly issuer: string;
  readonly clock: Clock;
  readonly makeId: () => string;
}) {
  const { keys, issuer, clock, makeId } = deps;
  const cache = makeLru<Verified>(cachedTokensMax);
  const pairs = new Map<string, Ed25519KeyPair>();

  function pairOf(kid: string, seed: Buffer): Ed25519KeyPair {
    const cached = pairs.get(kid);
    if (cached !== undefined) return cached;
    const pair = ed25519KeyPair(seed);
    pairs.set(kid, pair);
    return pair;
  }

  /** Returns claims and key id of a token with a valid signature. @throws jose's errors, ZodError */
  async function verifySignature(token: string, now: Date): Promise<Verified> {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      (header) => {
        // Only the parameters of our tokens: a token must not bring a key (jwk, jku, x5u) or critical parameters.
        const isForeign = Object.keys(header).some((name) => !['alg', 'kid', 'typ'].includes(name));
        const seed = isForeign || header.kid === undefined ? undefined : keys.find(header.kid);
        if (seed === undefined || header.kid === undefined) throw new errors.JWSInvalid('no such key');
        return pairOf(header.kid, seed).publicKey;
      },
      {
        algorithms: [algorithm],
        typ: type,
        issuer,
        audience,
        requiredClaims,
        clockTolerance: toleranceSeconds,
        currentDate: now,
      },
    );
    const claims = claimsSchema.parse(payload);
    return {
      kid: protectedHeader.kid ?? '',
      claims: {
        userId: claims.sub,
        sessionId: claims.sid,
        issuedAt: fromSeconds(claims.iat),
        expiresAt: fromSeconds(claims.exp),
      },
    };
  }

  return {
    sign: async ({ userId, sessionId, authenticatedAt, methods }: AccessTokenInput) => {
      const { kid, key } = keys.active();
      const issuedAt = toSeconds(clock.now());
      const expiresAt = issuedAt + accessTokenSeconds;
      const token = await new SignJWT({
        sid: sessionId,
        amr: [...methods],
        auth_time: toSeconds(authenticatedAt),
      })
        .setProtectedHeader({ alg: algorithm, kid, typ: type })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(userId)
        .setJti(makeId())
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(pairOf(kid, key).privateKey);
      return { token, expiresInSeconds: accessTokenSeconds };
    },
    /** Returns `token_expired` only for a token of ours that is valid except for its time. A bad token never throws. */
    verify: async (token: string): Promise<AccessTokenVerdict> => {
      if (token.length > tokenLengthMax) return invalid;
      const now = clock.now();
      const digest = hash('sha256', token, 'base64');
      const cached = cache.get(digest);
      // The removal of a key from the ring invalidates its cached tokens too.
      if (cached !== undefined && keys.find(cached.kid) !== undefined) return judgeTimes(cached.claims, now);
      if (!isCanonical(token)) return invalid;
      try {
        const verified = await verifySignature(token, now);
        cache.set(digest, verified);
        return judgeTimes(verified.claims, now);
      } catch (error) {
        if (error instanceof errors.JWTExpired) return expired;
        if (error instanceof errors.JOSEError || error instanceof z.ZodError) return invalid;
        throw error;
      }
    },
    /** Returns the public keys (RFC 7517), the active one first. */
    jwks: async (): Promise<{ readonly keys: readonly JWK[] }> => ({
      keys: await Promise.all(
        keys.all().map(async ({ kid, key }) => ({
          ...(await exportJWK(pairOf(kid, key).publicKey)),
          kid,
          alg: algorithm,
          use: 'sig',
        })),
      ),
    }),
  };
}

/** Returns the session of an access token that this service made (RFC 7519, claim `sid`), without a check. */
export function sessionIdOfToken(token: string): string {
  return String(decodeJwt(token)['sid']);
}

const expired: AccessTokenVerdict = { valid: false, code: 'token_expired' };
const invalid: AccessTokenVerdict = { valid: false, code: 'invalid_token' };

/** Judges the times of a token: jose's rules (RFC 7519, section 4.1), so that a cached token expires, and its age. */
function judgeTimes(claims: AccessClaims, now: Date): AccessTokenVerdict {
  const nowSeconds = toSeconds(now);
  const issuedAt = toSeconds(claims.issuedAt);
  if (issuedAt > nowSeconds + toleranceSeconds) return invalid;
  const tooOld = nowSeconds - issuedAt > ageSecondsMax + toleranceSeconds;
  if (tooOld || toSeconds(claims.expiresAt) <= nowSeconds - toleranceSeconds) return expired;
  return { valid: true, claims };
}

/** Returns whether all parts are canonical base64url. Decoders ignore stray last bits: two texts could be one token. */
function isCanonical(token: string): boolean {
  const parts = token.split('.');
  return parts.length === 3 && parts.every((part) => decodeBase64url(part) !== null);
}

function toSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}

function fromSeconds(seconds: number): Date {
  return new Date(seconds * 1_000);
}
