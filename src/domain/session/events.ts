// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { sealedSchema } from '../../event-sourcing/sealed.js';
import { entityId, hexDigest, instant } from '../fields.js';

/**
 * How the user proved to be who they are: RFC 8176, section 2, and `email` for a code sent by mail, which that registry
 * has no word for. `otp` is a code of the second factor.
 */
export const authenticationMethod = z.enum(['pwd', 'email', 'otp']);
export type AuthenticationMethod = z.infer<typeof authenticationMethod>;

/** The session's refresh token from now on. */
const refreshToken = {
  /** Counts the refresh tokens of the session; the first is 1. */
  refresh_generation: z.int().positive(),
  /** The key that the refresh token was made with. */
  refresh_key_id: z.string().min(1),
  /** SHA-256 of the refresh token. */
  refresh_token_digest: hexDigest,
  /** The end if the refresh token stays unused. */
  idle_expires_at: instant,
};

const schemas = {
  SessionStarted: z.strictObject({
    user_id: entityId,
    /** The user's session epoch at the start; the session is over once the user's is higher. */
    epoch: z.int().nonnegative(),
    amr: z.array(authenticationMethod).min(1),
    auth_time: instant,
    ...refreshToken,
    /** The end whatever happens. */
    expires_at: instant,
    /** Keyed digest of the client's address; null where there was none, as on the command line. */
    client_ip_digest: hexDigest.nullable(),
    /** What the client calls itself, sealed for the person; null where it said nothing. */
    user_agent: sealedSchema.nullable().default(null),
  }),
  RefreshTokenRotated: z.strictObject(refreshToken),
  /** A second factor was passed. */
  SessionStrengthened: z.strictObject({
    method: authenticationMethod,
    /**
     * The refresh token that came with it; null where none did. Its `link` stands where a rotation has its predecessor,
     * which was not presented: 43 characters of base64url.
     */
    refresh: z.strictObject({ ...refreshToken, link: z.string().length(43) }).nullable(),
  }),
  /** A refresh token came back long after its successor was handed out: one of the two who hold it has stolen it. */
  RefreshTokenReuseDetected: z.strictObject({ refresh_generation: z.int().positive() }),
  SessionRevoked: z.strictObject({
    reason: z.enum(['signed_out', 'revoked_by_user', 'refresh_token_reused', 'user_erased']),
  }),
};

export type SessionEvent = EventOf<typeof schemas>;
export type SessionStart = Extract<SessionEvent, { type: 'SessionStarted' }>['data'];
export type RevocationReason = Extract<SessionEvent, { type: 'SessionRevoked' }>['data']['reason'];
export const sessionCodec = makeEventCodec(schemas);
