import type { ShareDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { Overloaded } from '../../../../kit/overloaded.js';
import { makeKeyedMutex } from '../../../../kit/keyed-mutex.js';
import { type ProtectedShare, shareAggregate, throttledEveryMs } from '../../domain/share/share.js';
import type { PasswordClass } from '../../domain/share/password.js';
import { stepContext } from '../../../../event-sourcing/deciding/ids.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import { ipBuckets } from '../../../../security/rates/client-ip.js';
import type { BudgetFull, DailyBudget } from '../../../../security/guessing/daily-budget.js';
import { guessing } from '../../../../security/guessing/guessing.js';
import type { Level, SharedRateLimiter } from '../../../../security/rates/shared-rate-limit.js';
import type { GuardedTries } from '../../../../security/guessing/guarded-tries.js';
import type { Passwords } from '../../../../security/passwords/passwords.js';
import { TryPutOff } from '../../../../security/guessing/undecided.js';
import {
  type OnUncheckable,
  refuseUncheckable,
} from '../../../accounts/commands/signing-in/refuse-uncheckable.js';
import { refuseWhenFull } from '../refuse-when-full.js';
import { TooManyAttempts } from '../../../shared/rejections.js';

export interface SharePasswordTry {
  readonly shareId: string;
  readonly share: ProtectedShare;
  readonly password: string;
  /** In canonical spelling. */
  readonly clientIp: string;
}

/** Checks passwords of shares, and slows guessing down (docs/design.md#guessing). */
export interface TrySharePassword {
  /** Checks a password. @throws TooManyAttempts; CommandRejected password_not_checkable; StoreUnavailable */
  matches(tried: SharePasswordTry, context: CommandContext): Promise<boolean>;
  /**
   * Hashes a password for a share that does not open, at the cost of a wrong one. No password is right there, so the
   * hash takes a place of clients that failed before. @throws TooManyAttempts
   */
  matchesNone(password: string): Promise<void>;
}

const advice =
  'the password of this share cannot be checked any more; whoever shared it has to set it again, or the operator of the ' +
  'service to put a key back';
const { pressure: slowing, turns } = guessing.sharePassword;

export function makeTrySharePassword({
  handler,
  sealer,
  sharePasswords,
  budgets,
  tries,
  pressure,
  background,
  onUncheckable,
  clock,
}: Pick<ShareDeps, 'handler' | 'sealer' | 'sharePasswords' | 'background' | 'clock'> & {
  /** Bounds the failures of all clients at one password of a share, by the class of its length. */
  readonly budgets: Readonly<Record<PasswordClass, DailyBudget>>;
  /** Counts by share and client. */
  readonly tries: GuardedTries;
  /** Counts failures of all clients at a share. It delays attempts and refuses none. */
  readonly pressure: Pick<SharedRateLimiter<'share'>, 'level' | 'count'>;
  readonly onUncheckable: OnUncheckable;
}): TrySharePassword {
  // An attempt counts as a failure until it succeeds. One after the other, right ones do not use up the free failures.
  const queued = makeKeyedMutex(turns);
  let slowed = 0;
  const recording = new Set<string>();

  return {
    matches: async (tried, context) => {
      const { shareId, clientIp, share } = tried;
      const claim = { name: 'share', key: shareId } as const;
      const budget = budgets[share.passwordClass];
      // A new password is another secret, so it begins with no failures.
      const subject = `${shareId} ${share.password_generation}`;
      const looking = budget.look({ subject, network: '' });
      const [before, looked] = await Promise.all([pressure.level(claim), looking]);
      if (looked.outcome === 'full') return refuseFull(looked, before);
      if (before.retryAfterMs > 0) await slowDown();
      const of = { subject: shareId, clientIp };
      const client = ipBuckets(clientIp)[0]?.key ?? clientIp;
      const run = () =>
        queued(`${shareId} ${client}`, () =>
          tries.run(
            of,
            (failures) => bounded(() => check(tried, failures)),
            (failures) => {
              passwordsFor(failures).requireRoom();
            },
          ),
        );
      const outcome = await refuseUncheckable(() => refuseWhenFull(run), { advice, onUncheckable }).catch(
        (error: unknown) => {
          if (!(error instanceof TryPutOff)) throw error;
          return { outcome: 'throttled', retryAfterSeconds: error.retryAfterSeconds } as const;
        },
      );
      if (outcome.outcome === 'passed') return true;
      if (outcome.outcome === 'throttled') {
        recordThrottling(tried, before, context);
        throw new TooManyAttempts(outcome.retryAfterSeconds);
      }
      const after = await pressure.count(claim);
      if (after.retryAfterMs > 0) recordThrottling(tried, after, context);
      return false;

      function refuseFull({ isNews, retryAfterSeconds }: BudgetFull, level: Level): never {
        if (isNews) recordGuessing(shareId, { budget, subject }, context);
        recordThrottling(tried, level, context);
        throw new TooManyAttempts(retryAfterSeconds);
      }

      async function bounded(inner: () => Promise<true | null>): Promise<true | null> {
        if (looked.outcome === 'full') return null;
        const run = await looked.run(inner);
        if (run.outcome === 'full') throw new TryPutOff(run.retryAfterSeconds);
        if (run.outcome === 'failed' && run.filled) recordGuessing(shareId, { budget, subject }, context);
        return run.outcome === 'passed' ? run.value : null;
      }
    },
    matchesNone: async (password) => {
      await refuseWhenFull(async () => {
        for (const form of formsOf(password)) await sharePasswords.suspect.verifyNone(form);
      });
    },
  };

  /** Returns true, or null for a wrong password, as `GuardedTries` requires. */
  async function check(
    { shareId, share, password }: SharePasswordTry,
    failuresBefore: number,
  ): Promise<true | null> {
    const scope = { kind: 'share', projectId: share.projectId, shareId } as const;
    const stored = await sealer.open(scope, 'password_hash', share.passwordHash);
    const passwords = passwordsFor(failuresBefore);
    for (const form of formsOf(password)) {
      const { matches } = await (stored === erased
        ? passwords.verifyNone(form)
        : passwords.verify(form, stored));
      if (matches) return true;
    }
    return null;
  }

  function passwordsFor(failuresBefore: number): Passwords {
    return failuresBefore === 0 ? sharePasswords.fresh : sharePasswords.suspect;
  }

  async function slowDown(): Promise<void> {
    if (slowed >= slowing.waitingMax) return;
    slowed += 1;
    try {
      await clock.sleep(slowing.waitMs);
    } finally {
      slowed -= 1;
    }
  }

  /** Records that clients guess at the share. If a crash or a full queue loses that, the next failure records it. */
  function recordThrottling(
    { shareId, share: { throttledAt } }: SharePasswordTry,
    { counted: failures }: Level,
    context: CommandContext,
  ): void {
    const now = clock.now();
    if (throttledAt !== null && now.getTime() - throttledAt.getTime() < throttledEveryMs) return;
    const command = { type: 'RecordThrottled', failures: Math.max(1, failures), now } as const;
    record(`throttled ${shareId}`, async () => {
      await handler.handle({ aggregate: shareAggregate, id: shareId }, command, context);
    });
  }

  /** Records that no more passwords are checked, of which the sharer gets a mail. */
  function recordGuessing(
    shareId: string,
    { budget, subject }: { readonly budget: DailyBudget; readonly subject: string },
    context: CommandContext,
  ): void {
    record(`guessed ${shareId}`, async () => {
      const command = { type: 'RecordGuessing', now: clock.now() } as const;
      const target = { aggregate: shareAggregate, id: shareId };
      await handler.handle(target, command, stepContext(context, 'guessing'));
      await budget.markTold(subject);
    });
  }

  /** Works after the reply, once at a time for a key. */
  function record(key: string, work: () => Promise<void>): void {
    if (recording.has(key)) return;
    try {
      background.start('the throttling of a share was not recorded', async () => {
        recording.add(key);
        try {
          await work();
        } finally {
          recording.delete(key);
        }
      });
    } catch (error) {
      if (!(error instanceof Overloaded)) throw error;
    }
  }
}

/** People paste blanks with a password, so the form without them counts too. Both are one attempt. */
function formsOf(password: string): readonly string[] {
  const trimmed = password.trim();
  return trimmed === '' || trimmed === password ? [password] : [password, trimmed];
}
