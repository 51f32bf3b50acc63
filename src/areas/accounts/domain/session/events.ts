import { z } from 'zod';
import { event, type EventIn, makeEvents, sealedSchema } from '../../../../event-sourcing/ports/events.js';
import { entityId, hexDigest, instant } from '../../../../validation/fields.js';

/**
 * How the user authenticated: RFC 8176, section 2, and three that this registry lacks, `email` for a mailed code, `passkey`
 * for a passkey with user verification, which counts as both factors, and `recovery` for a recovery code, which counts as
 * either second factor. `otp` is a code of TOTP; former releases wrote it for recovery codes too.
 */
export const authenticationMethod = z.enum(['pwd', 'email', 'otp', 'passkey', 'recovery']);
export type AuthenticationMethod = z.infer<typeof authenticationMethod>;

const methods: Readonly<Record<AuthenticationMethod, string>> = {
  pwd: 'a password',
  email: 'a mailed code',
  otp: 'a code of the second factor',
  passkey: 'a passkey',
  recovery: 'a recovery code',
};

const endings = {
  signed_out: 'the user signed out',
  revoked_by_user: 'the user ended it',
  refresh_token_reused: 'its refresh token was used twice',
  user_erased: 'the account was erased',
  session_limit: 'the account had too many sessions',
} as const;

/** The session's new refresh token. */
const refreshToken = z.strictObject({
  /** Counts the refresh tokens of the session; the first is 1. */
  refresh_generation: z.int().positive(),
  /** The key that made the refresh token. */
  refresh_key_id: z.string().min(1),
  /** SHA-256 of the refresh token. */
  refresh_token_digest: hexDigest,
  /** The end of the session if the refresh token stays unused. */
  idle_expires_at: instant,
});
export type RefreshTokenRecord = z.infer<typeof refreshToken>;

export const sessionEvents = makeEvents('session-{id}', {
  SessionStarted: event(
    {
      user_id: entityId,
      /** The user's session epoch at the start; see `sessionHolds`. */
      epoch: z.int().nonnegative(),
      amr: z.array(authenticationMethod).min(1),
      auth_time: instant,
      ...refreshToken.shape,
      /** The latest end of the session. */
      expires_at: instant,
      /** Keyed digest of the client's address; null if there was none, as on the command line. */
      client_ip_digest: hexDigest.nullable(),
      /** The device of the client (src/security/README.md#known-devices): one that the account knew, or a new one. */
      device_id: entityId,
      /** The client's name for itself, sealed for the person; null if it gave none. */
      user_agent: sealedSchema.nullable(),
    },
    ({ user_id, amr, expires_at, user_agent }, id) =>
      `started session ${id} of user ${user_id} with ${amr.map((method) => methods[method]).join(' and ')}, ` +
      `until ${expires_at} at the latest${user_agent === null ? '' : '; the name of the client is sealed'}`,
  ),
  RefreshTokenRotated: event(
    refreshToken.shape,
    ({ refresh_generation }, id) => `renewed session ${id} with refresh token number ${refresh_generation}`,
  ),
  /** A second factor was passed. */
  SessionStrengthened: event(
    {
      method: authenticationMethod,
      /**
       * The refresh token that was issued with it; null if none was. `link`, 43 characters of base64url, replaces the
       * digest of the predecessor, which was not presented.
       */
      refresh: refreshToken.extend({ link: z.string().length(43) }).nullable(),
    },
    ({ method }, id) => `strengthened session ${id} with ${methods[method]}`,
  ),
  /** The user authenticated again, without a new session (src/areas/accounts/commands/README.md#fresh-authentication). */
  SessionReauthenticated: event(
    { method: authenticationMethod, auth_time: instant },
    ({ method }, id) => `authenticated again in session ${id} with ${methods[method]}`,
  ),
  /** A refresh token came back after the grace of its replacement: one of its two holders has stolen it. */
  RefreshTokenReuseDetected: event(
    { refresh_generation: z.int().positive() },
    ({ refresh_generation }, id) =>
      `presented the replaced refresh token number ${refresh_generation} of session ${id}; one holder has stolen it`,
  ),
  SessionRevoked: event(
    { reason: z.enum(Object.keys(endings) as (keyof typeof endings)[]) },
    ({ reason }, id) => `ended session ${id}: ${endings[reason]}`,
  ),
});

export type SessionEvent = EventIn<typeof sessionEvents>;
export type SessionStart = Extract<SessionEvent, { type: 'SessionStarted' }>['data'];
export type RevocationReason = Extract<SessionEvent, { type: 'SessionRevoked' }>['data']['reason'];
export const { category: sessionCategory, codec: sessionCodec } = sessionEvents;

/** Adds a method once. The aggregate and the view both fold with it. */
export function withMethod(
  methods: readonly AuthenticationMethod[],
  method: AuthenticationMethod,
): readonly AuthenticationMethod[] {
  return methods.includes(method) ? methods : [...methods, method];
}
