import type { Clock } from '../event-sourcing/clock.js';
import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { Overloaded } from '../event-sourcing/errors.js';
import { makeKeyedQueue } from '../event-sourcing/stream-queue.js';
import { type OpenShare, shareAggregate } from '../domain/share/share.js';
import { erased, type Sealer } from '../keys/sealer.js';
import { ipBuckets } from '../security/client-ip.js';
import type { FailurePressure, Pressure } from '../security/failure-pressure.js';
import type { GuardedTries } from '../security/guarded-tries.js';
import type { Passwords } from '../security/passwords.js';
import type { SharePasswords } from '../security/share-passwords.js';
import type { Background } from './background.js';
import { type OnUncheckable, refuseUncheckable } from './refuse-uncheckable.js';
import { refuseWhenFull } from './refuse-when-full.js';
import { TooManyAttempts } from './rejections.js';

export interface SharePasswordTry {
  readonly shareId: string;
  readonly share: OpenShare;
  readonly password: string;
  /** In canonical spelling. */
  readonly clientIp: string;
}

/** Tries passwords of shares, and slows guessing down (DESIGN 4.4). */
export interface TrySharePassword {
  /** Whether it is the share's. @throws TooManyAttempts; CommandRejected password_not_checkable; StoreUnavailable */
  matches(tried: SharePasswordTry, context: CommandContext): Promise<boolean>;
  /**
   * Costs what a wrong password costs to hash, for a share that does not open. Nobody can be right there, so it takes the places of
   * those who failed before. @throws TooManyAttempts
   */
  matchesNone(password: string): Promise<void>;
}

const advice =
  'the password of this share cannot be checked any more; whoever shared it has to set it again, or the operator of the ' +
  'service to put a key back';
/** Tries of one client at one share that may wait for each other. */
const waitingMax = 64;
/** How long a try has to wait where many have failed, whoever they were. */
const slowMs = 1_000;
/** Tries that may be waiting so at once; further ones go ahead, for nobody is to be locked out. */
const slowedMax = 500;
/** DESIGN 3: at most one `ShareVerificationThrottled` in this time. */
const toldEveryMs = 3_600_000;

export function makeTrySharePassword({
  handler,
  sealer,
  sharePasswords,
  tries,
  pressure,
  background,
  onUncheckable,
  clock,
}: {
  readonly handler: CommandHandler;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly sharePasswords: SharePasswords;
  /** By share and client. */
  readonly tries: GuardedTries;
  readonly pressure: FailurePressure;
  readonly background: Background;
  readonly onUncheckable: OnUncheckable;
  readonly clock: Clock;
}): TrySharePassword {
  // A try counts as a failure until it has succeeded. One after the other, right ones do not use up what is free.
  const queued = makeKeyedQueue({ waitingMax });
  let slowed = 0;
  const telling = new Set<string>();

  return {
    matches: async (tried, context) => {
      const { shareId, clientIp } = tried;
      const before = await pressure.of(shareId);
      if (before.isHigh) await slowDown();
      const of = { subject: shareId, clientIp };
      const client = ipBuckets(clientIp)[0]?.key ?? clientIp;
      const run = () =>
        queued(`${shareId} ${client}`, () =>
          tries.run(
            of,
            (failures) => check(tried, failures),
            (failures) => {
              passwordsFor(failures).requireRoom();
            },
          ),
        );
      const outcome = await refuseUncheckable(() => refuseWhenFull(run), { advice, onUncheckable });
      if (outcome.outcome === 'passed') return true;
      if (outcome.outcome === 'throttled') {
        tell(tried, before, context);
        throw new TooManyAttempts(outcome.retryAfterSeconds);
      }
      const after = await pressure.count(shareId);
      if (after.isHigh) tell(tried, after, context);
      return false;
    },
    matchesNone: async (password) => {
      await refuseWhenFull(() => sharePasswords.suspect.verifyNone(password));
    },
  };

  /** True, or null for a wrong password, as `GuardedTries` wants it. */
  async function check(
    { shareId, share, password }: SharePasswordTry,
    failuresBefore: number,
  ): Promise<true | null> {
    const scope = { kind: 'share', projectId: share.projectId, shareId } as const;
    const stored = await sealer.open(scope, 'password_hash', share.passwordHash);
    const passwords = passwordsFor(failuresBefore);
    const { matches } =
      stored === erased ? await passwords.verifyNone(password) : await passwords.verify(password, stored);
    return matches ? true : null;
  }

  function passwordsFor(failuresBefore: number): Passwords {
    return failuresBefore === 0 ? sharePasswords.fresh : sharePasswords.suspect;
  }

  async function slowDown(): Promise<void> {
    if (slowed >= slowedMax) return;
    slowed += 1;
    try {
      await clock.sleep(slowMs);
    } finally {
      slowed -= 1;
    }
  }

  /** Tells that the share is being guessed at. What is lost with a crash, or for lack of room, is told by the next failure. */
  function tell(
    { shareId, share: { throttledAt } }: SharePasswordTry,
    { failures }: Pressure,
    context: CommandContext,
  ): void {
    const now = clock.now();
    if (throttledAt !== null && now.getTime() - throttledAt.getTime() < toldEveryMs) return;
    if (telling.has(shareId)) return;
    const told = { type: 'TellThrottled', failures: Math.max(1, failures), now } as const;
    try {
      background.start('a throttled share was not told of', async () => {
        telling.add(shareId);
        try {
          await handler.handle({ aggregate: shareAggregate, id: shareId }, told, context);
        } finally {
          telling.delete(shareId);
        }
      });
    } catch (error) {
      if (!(error instanceof Overloaded)) throw error;
    }
  }
}
