// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import { sealedSchema } from '../../../../event-sourcing/ports/sealed.js';
import { entityId, hexDigest, instant } from '../../../../validation/fields.js';

/** Streams `session-<session id>`. */
export const sessionCategory = 'session';

/**
 * How the user authenticated: RFC 8176, section 2, and three that this registry lacks, `email` for a mailed code, `passkey`
 * for a passkey with user verification, which counts as both factors, and `recovery` for a recovery code, which counts as
 * either second factor. `otp` is a code of TOTP; former releases wrote it for recovery codes too.
 */
export const authenticationMethod = z.enum(['pwd', 'email', 'otp', 'passkey', 'recovery']);
export type AuthenticationMethod = z.infer<typeof authenticationMethod>;

/** The session's new refresh token. */
const refreshToken = {
  /** Counts the refresh tokens of the session; the first is 1. */
  refresh_generation: z.int().positive(),
  /** The key that made the refresh token. */
  refresh_key_id: z.string().min(1),
  /** SHA-256 of the refresh token. */
  refresh_token_digest: hexDigest,
  /** The end of the session if the refresh token stays unused. */
  idle_expires_at: instant,
};

const schemas = {
  SessionStarted: z.strictObject({
    user_id: entityId,
    /** The user's session epoch at the start; see `sessionHolds`. */
    epoch: z.int().nonnegative(),
    amr: z.array(authenticationMethod).min(1),
    auth_time: instant,
    ...refreshToken,
    /** The latest end of the session. */
    expires_at: instant,
    /** Keyed digest of the client's address; null if there was none, as on the command line. */
    client_ip_digest: hexDigest.nullable(),
    /** The device of the client (src/security/README.md#known-devices): one that the account knew, or a new one. */
    device_id: entityId,
    /** The client's name for itself, sealed for the person; null if it gave none. */
    user_agent: sealedSchema.nullable(),
  }),
  RefreshTokenRotated: z.strictObject(refreshToken),
  /** A second factor was passed. */
  SessionStrengthened: z.strictObject({
    method: authenticationMethod,
    /**
     * The refresh token that was issued with it; null if none was. `link`, 43 characters of base64url, replaces the
     * digest of the predecessor, which was not presented.
     */
    refresh: z.strictObject({ ...refreshToken, link: z.string().length(43) }).nullable(),
  }),
  /** The user authenticated again, without a new session (src/areas/accounts/commands/README.md#fresh-authentication). */
  SessionReauthenticated: z.strictObject({ method: authenticationMethod, auth_time: instant }),
  /** A refresh token came back after the grace of its replacement: one of its two holders has stolen it. */
  RefreshTokenReuseDetected: z.strictObject({ refresh_generation: z.int().positive() }),
  SessionRevoked: z.strictObject({
    reason: z.enum(['signed_out', 'revoked_by_user', 'refresh_token_reused', 'user_erased', 'session_limit']),
  }),
};

export type SessionEvent = EventOf<typeof schemas>;
export type SessionStart = Extract<SessionEvent, { type: 'SessionStarted' }>['data'];
export type RevocationReason = Extract<SessionEvent, { type: 'SessionRevoked' }>['data']['reason'];
export const sessionCodec = makeEventCodec(schemas);
