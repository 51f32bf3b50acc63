import { createHash } from 'node:crypto';
import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import { parseSixDigits } from '../../../../keys/codes/agent-secrets.js';
import { Overloaded } from '../../../../kit/semaphore.js';
import type { TryingClient } from '../../../../security/guessing/guard.js';
import { makeRecoveryCodes, matchTotpStep, parseRecoveryCode } from '../../../../security/tokens/totp.js';
import { whenRejected } from '../../../shared/rejections.js';
import {
  type FactorOrPasskey,
  type SecondFactor,
  noFactor,
  requireOn,
  refuseFactor,
} from '../../domain/factors/totp.js';
import { type SessionRejection, rejectSession, sessionAggregate } from '../../domain/session/session.js';
import { sessionHolds } from '../../domain/guard.js';
import { hasFactor } from '../../domain/factors/credentials.js';
import { type RegisteredUser, userAggregate } from '../../domain/user/user.js';
import type { AccountGuard, KnownDevices } from '../signing-in/known-devices.js';
import { type Account, loadRegistered, openForPerson } from '../finding.js';
import { type SessionTokens, type TokenPair, refreshIdleSeconds } from '../signing-in/sessions.js';

/** The text that proves a second factor. */
export type TypedFactor = { readonly code: string } | { readonly recoveryCode: string };

/** The session has proved a passkey within 15 minutes, which stands for the typed text: `guard` has checked it. */
export type SessionPasskey = 'passkey-of-session';

/** The session of a request that proves a factor. */
export interface FactorSession {
  readonly userId: string;
  readonly client: TryingClient;
}

/** An attempt to prove it. */
interface FactorTry {
  readonly userId: string;
  readonly client: TryingClient;
  readonly context: CommandContext;
}

export type SecondFactors = ReturnType<typeof makeSecondFactors>;

/** Checks second factors. Each is good for one use (docs/accounts.md#second-factor). */
export function makeSecondFactors(
  deps: AccountDeps & {
    /** Counts wrong codes by user. */
    readonly codeGuard: AccountGuard;
  },
) {
  const { handler, sealer, digests, codeGuard } = deps;
  return {
    pass,
    /** Does the same, or lets the passkey of the session stand for the text. */
    passOrPasskey: <T>(
      of: FactorTry,
      typed: TypedFactor | SessionPasskey,
      use: (factor: FactorOrPasskey) => Promise<T>,
    ): Promise<T> => (typed === 'passkey-of-session' ? use(null) : pass(of, typed, use)),
    /**
     * Returns the time step of the first code of a secret that is not confirmed yet.
     * @throws CommandRejected user_not_found, second_factor_refused; TooManyAttempts
     */
    firstStep: (of: FactorTry, secret: Sealed, code: string): Promise<number> =>
      guarded(of, code, async () => {
        const step = await matchStep(of, secret, code);
        return step === null ? null : { value: step };
      }),
  };

  /**
   * Finds the user's factor for the typed text and uses it.
   * @param use appends the use; it rejects a factor that was used before, which counts as a failure
   * @throws CommandRejected user_not_found, totp_not_on, second_factor_refused; TooManyAttempts
   */
  async function pass<T>(
    of: FactorTry,
    typed: TypedFactor,
    use: (factor: SecondFactor) => Promise<T>,
  ): Promise<T> {
    // A user who lacks the factor is rejected before the attempt is counted.
    const user = await loadRegistered(handler, of.userId);
    if ('code' in typed) requireOn(user.totp);
    else if (!hasFactor(user)) noFactor();
    const check = async () => {
      const factor = await match(of, typed);
      return factor === null ? null : { value: await use(factor) };
    };
    // A recovery code has 50 random bits, so it needs no guard. It passes while another client guesses codes.
    return 'code' in typed ? guarded(of, typed.code, check) : ((await check()) ?? refuseFactor()).value;
  }

  async function guarded<T>(
    { userId, client, context }: FactorTry,
    code: string,
    check: () => Promise<{ readonly value: T } | null>,
  ): Promise<T> {
    // A text that cannot be a code is no guess.
    if (parseSixDigits(code) === null) refuseFactor();
    const passed = await codeGuard.run({ subject: userId, client }, check, context);
    return (passed ?? refuseFactor()).value;
  }

  async function match(of: FactorTry, typed: TypedFactor): Promise<SecondFactor | null> {
    const user = await loadRegistered(handler, of.userId);
    if ('code' in typed) {
      const { secret, enrolment_id } = requireOn(user.totp);
      const step = await matchStep(of, secret, typed.code);
      return step === null ? null : { kind: 'totp', enrolment_id, step };
    }
    const code = parseRecoveryCode(typed.recoveryCode);
    if (code === null) return null;
    const digest = digests.recoveryCode(of.userId, code);
    return user.recoveryCodes.has(digest) ? { kind: 'recovery-code', digest } : null;
  }

  async function matchStep(
    { userId, context }: FactorTry,
    sealed: Sealed,
    code: string,
  ): Promise<number | null> {
    const secret = await openForPerson(sealer, { userId, field: 'totp_secret' }, sealed);
    return matchTotpStep(secret, code, context.time);
  }
}

/** Recovery codes, and the keyed digests of them that the log keeps. */
type MadeRecoveryCodes = { readonly codes: readonly string[]; readonly digests: readonly string[] };

/** Makes recovery codes for a user. */
export function issueRecoveryCodes(deps: AccountDeps, userId: string): MadeRecoveryCodes {
  const codes = makeRecoveryCodes(deps.randomBytes);
  return { codes, digests: codes.map((code) => digestOfCode(deps, userId, code)) };
}

/** Returns whether all of these codes of the user are void or used. */
export function areCodesOver(
  deps: Pick<AccountDeps, 'digests'>,
  { userId, user }: Account,
  codes: readonly string[],
): boolean {
  return codes.every((code) => !user.recoveryCodes.has(digestOfCode(deps, userId, code)));
}

/** The digests are of the spelling that `parseRecoveryCode` makes of a typed code. */
function digestOfCode({ digests }: Pick<AccountDeps, 'digests'>, userId: string, code: string): string {
  return digests.recoveryCode(userId, parseRecoveryCode(code) ?? code);
}

/** Returns the codes if the user has them; null where the user's events issued none, because the user had a factor. */
export function issuedCodes(
  { codes, digests }: MadeRecoveryCodes,
  { recoveryCodes }: Pick<RegisteredUser, 'recoveryCodes'>,
): readonly string[] | null {
  return digests.every((digest) => recoveryCodes.has(digest)) ? codes : null;
}

interface PassedFactor {
  readonly tokens: TokenPair;
  /** The factor completes the sign-in of the session. */
  readonly deviceToken: string;
}

/** A recovery code counts as TOTP and as a passkey. */
type Method = 'otp' | 'recovery';

const triesMax = 20;

/** Makes the use case that passes a second factor and strengthens the session of the request. */
export function makePassSecondFactor(
  deps: Pick<AccountDeps, 'handler' | 'refreshTokens' | 'clock'> & {
    readonly secondFactors: Pick<SecondFactors, 'pass'>;
    readonly sessionTokens: SessionTokens;
    readonly knownDevices: Pick<KnownDevices, 'complete'>;
  },
) {
  const { handler, secondFactors, refreshTokens, clock, sessionTokens, knownDevices } = deps;
  /**
   * The returned tokens replace the session's tokens. For 10 s the replaced refresh token gets the same new one
   * (src/keys/README.md#refresh-tokens).
   * @throws CommandRejected user_not_found, totp_not_on, second_factor_refused, session_over; TooManyAttempts; Overloaded
   */
  return async (
    input: FactorSession & { readonly sessionId: string; readonly factor: TypedFactor },
    context: CommandContext,
  ): Promise<PassedFactor> => {
    const { userId, sessionId, client, factor: typed } = input;
    await secondFactors.pass({ userId, client, context }, typed, (factor) =>
      handler.handle(userAggregate.at(userId), { type: 'PassSecondFactor', factor }, context),
    );
    const method = 'code' in typed ? 'otp' : 'recovery';
    const { tokens, device_id, epoch } = await strengthen(sessionId, method, context);
    const { state: user } = await handler.load(userAggregate, userId);
    // A kept session has an older epoch than its user. What has ended the session meanwhile has ended the device too.
    const holds = user.status === 'registered' && sessionHolds(user, { id: sessionId, epoch });
    const of = { userId, epoch: holds ? user.epoch : epoch };
    return { tokens, deviceToken: await knownDevices.complete(of, device_id, client.known) };
  };

  async function strengthen(sessionId: string, method: Method, context: CommandContext) {
    const link = createHash('sha256').update(context.commandId).digest('base64url');
    for (let attempt = 0; attempt < triesMax; attempt += 1) {
      const { state: session } = await handler.load(sessionAggregate, sessionId);
      if (session.status !== 'started') return rejectSession('session_over', 'the session has ended');
      const { refresh_generation: generation, refresh_key_id, link: current } = session.refresh;
      if (current === link) {
        const { token } = refreshTokens.issueLinked(sessionId, generation, link, refresh_key_id);
        const tokens = await sessionTokens({ sessionId, session, refreshToken: token }, context.time);
        return { tokens, device_id: session.device_id, epoch: session.epoch };
      }
      await append(sessionId, { method, generation: generation + 1, link }, context);
    }
    throw new Overloaded(`a session was refreshed ${triesMax} times while it was being strengthened`);
  }

  async function append(
    sessionId: string,
    input: { readonly method: Method; readonly generation: number; readonly link: string },
    context: CommandContext,
  ): Promise<void> {
    const { method, generation, link } = input;
    const { kid, digest } = refreshTokens.issueLinked(sessionId, generation, link);
    const refresh = {
      ...{ refresh_generation: generation, refresh_key_id: kid, refresh_token_digest: digest, link },
      idle_expires_at: new Date(context.time.getTime() + refreshIdleSeconds * 1_000).toISOString(),
    };
    const command = { type: 'Strengthen', method, refresh, now: context.time } as const;
    await handler
      // The grace of the replaced tokens begins now: the request may have waited for its turn.
      .handle(sessionAggregate.at(sessionId), command, { ...context, time: clock.now() })
      // A refresh was faster: the next attempt takes the next generation.
      .catch(whenRejected<SessionRejection>('refresh_token_superseded')(() => undefined));
  }
}
