import type { AccountDeps } from '../../deps.js';
import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { type FactorOrPasskey, noFactor, requireOn, type SecondFactor } from '../../domain/factors/totp.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { TryingClient } from '../../../../security/guessing/guard.js';
import type { AccountGuard } from '../signing-in/account-guard.js';
import { parseSixDigits } from '../../../../keys/codes/typed-code.js';
import { parseRecoveryCode } from '../../../../security/tokens/recovery-codes.js';
import { matchTotpStep } from '../../../../security/tokens/totp.js';
import { openForPerson } from '../account/person-data.js';
import { loadRegistered } from '../registering/registered-user.js';
import { hasFactor } from '../../domain/user/state.js';

/** The text that proves a second factor. */
export type TypedFactor = { readonly code: string } | { readonly recoveryCode: string };

/** The session has proved a passkey within 15 minutes, which stands for the typed text: `guard` has checked it. */
export type SessionPasskey = 'passkey-of-session';

/** An attempt to prove it. */
export interface FactorTry {
  readonly userId: string;
  readonly client: TryingClient;
  readonly context: CommandContext;
}

/** Checks second factors. Each is good for one use (docs/accounts.md#second-factor). */
export interface SecondFactors {
  /**
   * Finds the user's factor for the typed text and uses it.
   * @param use appends the use; it rejects a factor that was used before, which counts as a failure
   * @throws CommandRejected user_not_found, totp_not_on, second_factor_refused; TooManyAttempts
   */
  pass<T>(of: FactorTry, typed: TypedFactor, use: (factor: SecondFactor) => Promise<T>): Promise<T>;
  /** Does the same, or lets the passkey of the session stand for the text. */
  passOrPasskey<T>(
    of: FactorTry,
    typed: TypedFactor | SessionPasskey,
    use: (factor: FactorOrPasskey) => Promise<T>,
  ): Promise<T>;
  /**
   * Returns the time step of the first code of a secret that is not confirmed yet.
   * @throws CommandRejected user_not_found, second_factor_refused; TooManyAttempts
   */
  firstStep(of: FactorTry, secret: Sealed, code: string): Promise<number>;
}

export function makeSecondFactors({
  handler,
  sealer,
  digests,
  codeGuard,
}: Pick<AccountDeps, 'handler' | 'sealer' | 'digests'> & {
  /** Counts wrong codes by user. */
  readonly codeGuard: AccountGuard;
}): SecondFactors {
  return {
    pass,
    passOrPasskey: (of, typed, use) => (typed === 'passkey-of-session' ? use(null) : pass(of, typed, use)),
    firstStep: (of, secret, code) =>
      guarded(of, code, async () => {
        const step = await matchStep(of, secret, code);
        return step === null ? null : { value: step };
      }),
  };

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
      const { secret, enrolmentId } = requireOn(user.totp);
      const step = await matchStep(of, secret, typed.code);
      return step === null ? null : { kind: 'totp', enrolmentId, step };
    }
    const code = parseRecoveryCode(typed.recoveryCode);
    if (code === null) return null;
    const digest = digests.recoveryCode(of.userId, code);
    return user.recoveryCodes.has(digest) ? { kind: 'recovery-code', digest } : null;
  }

  async function matchStep(
    { userId, context }: FactorTry,
    secret: Sealed,
    code: string,
  ): Promise<number | null> {
    return matchTotpStep(
      await openForPerson(sealer, { userId, field: 'totp_secret' }, secret),
      code,
      context.time,
    );
  }
}

function refuseFactor(): never {
  return rejectUser('second_factor_refused', 'the code is wrong or was used already');
}
