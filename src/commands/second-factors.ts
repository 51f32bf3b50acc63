import type { CommandHandler } from '../event-sourcing/command-handler.js';
import type { Sealed } from '../event-sourcing/sealed.js';
import { rejectUser } from '../domain/user/rejections.js';
import type { SecondFactor } from '../domain/user/totp.js';
import type { RegisteredUser } from '../domain/user/user.js';
import type { Digests } from '../keys/digests.js';
import type { Sealer } from '../keys/sealer.js';
import type { GuardedTries } from '../security/guarded-tries.js';
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
  /** In canonical spelling: failures are throttled per user and client. */
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

type TotpOn = Extract<RegisteredUser['totp'], { status: 'on' }>;

export function makeSecondFactors({
  handler,
  sealer,
  digests,
  tries,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly digests: Pick<Digests, 'recoveryCode'>;
  readonly tries: GuardedTries;
}): SecondFactors {
  return {
    pass: async (of, typed, use) => {
      // Before the try is counted: where nothing is on nothing can be guessed.
      requireOn(await loadRegistered(handler, of.userId));
      return guarded(of, async () => {
        const factor = await match(of, typed);
        return factor === null ? null : { value: await use(factor) };
      });
    },
    firstStep: (of, secret, code) =>
      guarded(of, async () => {
        const step = await matchStep(of, secret, code);
        return step === null ? null : { value: step };
      }),
  };

  async function guarded<T>(
    { userId, clientIp }: FactorTry,
    check: () => Promise<{ readonly value: T } | null>,
  ): Promise<T> {
    const tried = await tries.run({ subject: userId, clientIp }, check);
    switch (tried.outcome) {
      case 'passed':
        return tried.value.value;
      case 'failed':
        return rejectUser('second_factor_refused', 'the code is wrong or was used already');
      case 'throttled':
        throw new TooManyAttempts(tried.retryAfterSeconds);
    }
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
