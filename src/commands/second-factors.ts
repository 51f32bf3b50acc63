import type { CommandHandler } from '../event-sourcing/command-handler.js';
import type { Sealed } from '../event-sourcing/sealed.js';
import { rejectUser } from '../domain/user/rejections.js';
import type { SecondFactor } from '../domain/user/totp.js';
import type { RegisteredUser } from '../domain/user/user.js';
import type { Digests } from '../keys/digests.js';
import type { Sealer } from '../keys/sealer.js';
import { type GuardedTries, type TryOutcome, TryPutOff } from '../security/guarded-tries.js';
import { parseRecoveryCode } from '../security/recovery-codes.js';
import { matchTotpStep } from '../security/totp.js';
import { openForPerson } from './person-data.js';
import { loadRegistered } from './registered-user.js';
import { TooManyAttempts } from './rejections.js';

/** What was typed to prove a second factor. */
export type TypedFactor = { readonly code: string } | { readonly recoveryCode: string };

/** Somebody who types it. */
export interface FactorTry {
  readonly userId: string;
  /** In canonical spelling: failures are throttled per user and client; of codes per user, too. */
  readonly clientIp: string;
  readonly now: Date;
}

/** Checks second factors; each of them is good for one use (DESIGN 4.1). */
export interface SecondFactors {
  /**
   * Finds out which of the user's factors was typed and uses it up.
   * @param use appends that it was used; there it is refused if it was used before, which counts as a failed try
   * @throws CommandRejected user_not_found, totp_not_on, second_factor_refused; TooManyAttempts
   */
  pass<T>(of: FactorTry, typed: TypedFactor, use: (factor: SecondFactor) => Promise<T>): Promise<T>;
  /**
   * The time step of a first code, while its secret is not confirmed yet.
   * @throws CommandRejected user_not_found, second_factor_refused; TooManyAttempts
   */
  firstStep(of: FactorTry, secret: Sealed, code: string): Promise<number>;
}

type Check<T> = () => Promise<{ readonly value: T } | null>;
type TotpOn = Extract<RegisteredUser['totp'], { status: 'on' }>;

export function makeSecondFactors({
  handler,
  sealer,
  digests,
  tries,
  accountTries,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly digests: Pick<Digests, 'recoveryCode'>;
  /** By user and client. */
  readonly tries: GuardedTries;
  /** By user alone, for codes: nobody gets this far without the user's password or mail, so strangers lock nobody out. */
  readonly accountTries: GuardedTries;
}): SecondFactors {
  return {
    pass: async (of, typed, use) => {
      // Before the try is counted: where nothing is on nothing can be guessed.
      requireOn(await loadRegistered(handler, of.userId));
      const check = async () => {
        const factor = await match(of, typed);
        return factor === null ? null : { value: await use(factor) };
      };
      // A recovery code has 50 random bits: it needs no further limit, and passes while others guess at codes.
      return guarded(of, 'code' in typed ? () => guardedByAccount(of, check) : check);
    },
    firstStep: (of, secret, code) =>
      guarded(of, async () => {
        const step = await matchStep(of, secret, code);
        return step === null ? null : { value: step };
      }),
  };

  async function guarded<T>({ userId, clientIp }: FactorTry, check: Check<T>): Promise<T> {
    const tried = await tries
      .run({ subject: userId, clientIp }, check)
      .catch((error: unknown): TryOutcome<{ readonly value: T }> => {
        if (!(error instanceof TryPutOff)) throw error;
        return { outcome: 'throttled', retryAfterSeconds: error.retryAfterSeconds };
      });
    switch (tried.outcome) {
      case 'passed':
        return tried.value.value;
      case 'failed':
        return rejectUser('second_factor_refused', 'the code is wrong or was used already');
      case 'throttled':
        throw new TooManyAttempts(tried.retryAfterSeconds);
    }
  }

  /** @throws TryPutOff, so that the client is not blamed for the failures of others */
  async function guardedByAccount<T>({ userId }: FactorTry, check: Check<T>): ReturnType<Check<T>> {
    const tried = await accountTries.run({ subject: userId, clientIp: null }, check);
    if (tried.outcome === 'throttled') throw new TryPutOff(tried.retryAfterSeconds);
    return tried.outcome === 'passed' ? tried.value : null;
  }

  async function match(of: FactorTry, typed: TypedFactor): Promise<SecondFactor | null> {
    const user = await loadRegistered(handler, of.userId);
    const { secret, enrolmentId } = requireOn(user);
    if ('code' in typed) {
      const step = await matchStep(of, secret, typed.code);
      return step === null ? null : { kind: 'totp', enrolmentId, step };
    }
    const code = parseRecoveryCode(typed.recoveryCode);
    if (code === null) return null;
    const digest = digests.recoveryCode(of.userId, code);
    return user.recoveryCodes.has(digest) ? { kind: 'recovery-code', digest } : null;
  }

  async function matchStep({ userId, now }: FactorTry, secret: Sealed, code: string): Promise<number | null> {
    return matchTotpStep(await openForPerson(sealer, { userId, field: 'totp_secret' }, secret), code, now);
  }
}

function requireOn({ totp }: RegisteredUser): TotpOn {
  return totp.status === 'on' ? totp : rejectUser('totp_not_on', 'two-factor authentication is not on');
}
