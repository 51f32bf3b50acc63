import type { ShareDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import {
  mayReportAgain,
  type ProtectedShare,
  shareAggregate,
  throttledEveryMs,
} from '../../domain/share/share.js';
import type { PasswordClass } from '../../domain/share/password.js';
import { stepContext } from '../../../../event-sourcing/deciding/command-handler.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import { makeGuard, type TryingClient } from '../../../../security/guessing/guard.js';
import { guessing, notedFailures } from '../../../../security/guessing/guessing.js';
import { refuseWhenFull } from '../sharing.js';
import { type OnUncheckable, refuseUncheckable, TooManyAttempts } from '../../../shared/rejections.js';

interface SharePasswordTry {
  readonly shareId: string;
  readonly share: ProtectedShare;
  readonly password: string;
  /** With the visitor, if it gave this password before. */
  readonly client: TryingClient;
}

const advice =
  'this password cannot be checked: ask the sender to set a new one, or the operator to restore the missing key';

/** Checks passwords of shares, and slows guessing down (src/security/README.md#guessing). */
export function makeTrySharePassword(deps: ShareDeps) {
  const { handler, sealer, sharePasswords, background, onFailure, clock } = deps;
  const guardOf = (name: PasswordClass) =>
    makeGuard({ ...deps, name: `share-${name}`, limits: guessing.sharePassword.failures[name] });
  const guards = { short: guardOf('short'), long: guardOf('long') };
  const onUncheckable: OnUncheckable = (error) => {
    onFailure(`the password of a share could not be checked: ${error.message}`, error);
  };
  return {
    /** Checks a password. @throws TooManyAttempts; CommandRejected password_not_checkable; StoreUnavailable */
    matches: async (tried: SharePasswordTry, context: CommandContext) => {
      const { shareId, share, client } = tried;
      // A visitor hashes among those of its network: sessions of many shares would take the lane of known devices.
      const by = { ip: client.ip, known: null };
      const attempt = {
        // A new password is another secret, so it begins with no failures.
        subject: `${shareId} ${share.password_generation}`,
        client,
        admit: () => sharePasswords.requireRoom(by),
        tell: async () => {
          const command = { type: 'RecordGuessing', now: clock.now() } as const;
          await handler.handle(shareAggregate.at(shareId), command, stepContext(context, 'guessing'));
        },
      };
      const run = () => guards[share.password_class].run(attempt, () => check(tried, by));
      const outcome = await refuseUncheckable(() => refuseWhenFull(run), { advice, onUncheckable });
      if (outcome.outcome === 'passed') return true;
      const isThrottled = outcome.outcome === 'throttled';
      if (isThrottled || outcome.recent >= notedFailures) recordThrottling(tried, outcome.recent, context);
      if (isThrottled) throw new TooManyAttempts(outcome.retryAfterSeconds);
      return false;
    },
    /**
     * Hashes a password for a share that does not open, at the cost of a wrong one. No password is right there, so the
     * hash waits behind those of all clients. @throws TooManyAttempts
     */
    matchesNone: async (password: string) => {
      await refuseWhenFull(() => sharePasswords.verifyNone(password, null));
    },
  };

  /** Returns true, or null for a wrong password, as `makeGuard` requires. */
  async function check(
    { shareId, share, password }: SharePasswordTry,
    by: TryingClient,
  ): Promise<true | null> {
    const scope = { kind: 'share', projectId: share.project_id, shareId } as const;
    const stored = await sealer.open(scope, 'password_hash', share.password_hash);
    const { matches } = await (stored === erased
      ? sharePasswords.verifyNone(password, by)
      : sharePasswords.verify(password, stored, by));
    return matches ? true : null;
  }

  /** Records after the reply that clients guess at the share. */
  function recordThrottling(
    { shareId, share: { throttled_at } }: SharePasswordTry,
    recent: number,
    context: CommandContext,
  ): void {
    const now = clock.now();
    if (!mayReportAgain(throttled_at, throttledEveryMs, now)) return;
    background.startOnce(`throttled ${shareId}`, 'the throttling of a share was not recorded', async () => {
      const command = { type: 'RecordThrottled', failures: Math.max(1, recent), now } as const;
      await handler.handle(shareAggregate.at(shareId), command, context);
    });
  }
}
