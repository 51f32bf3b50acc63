import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { GuessedSecret } from '../../domain/user/events.js';
import { userAggregate } from '../../domain/user/user.js';
import type { FailureLimits } from '../../../../security/guessing/failures.js';
import { type Try, makeGuard } from '../../../../security/guessing/guard.js';
import { TooManyAttempts } from '../../../shared/rejections.js';
import type { AccountDeps } from '../../deps.js';

export type AccountGuard = ReturnType<typeof makeAccountGuard>;

/** Bounds the wrong attempts at a secret of accounts (`Guard`). The owner gets a mail when a day has no room for more. */
export function makeAccountGuard({
  secret,
  limits,
  ownerOf,
  handler,
  ...deps
}: Pick<AccountDeps, 'handler' | 'background' | 'stateStore' | 'digests' | 'clock'> & {
  readonly secret: GuessedSecret;
  readonly limits: FailureLimits;
  /** Returns the user whose secret it is; null where an address has no account, which counts alike. */
  readonly ownerOf: (subject: string) => Promise<string | null>;
}) {
  const guard = makeGuard({ ...deps, name: secret, limits });
  return {
    hasFailures: guard.hasFailures,
    /** @returns the value of a success; null for a failure. @throws TooManyAttempts; those of `Guard.run` */
    run: async <T>(
      tried: Omit<Try, 'tell'>,
      check: () => Promise<T | null>,
      context: CommandContext,
      beside?: (value: T) => Promise<unknown>,
    ): Promise<T | null> => {
      const tell = async () => {
        const id = await ownerOf(tried.subject);
        const command = { type: 'RecordGuessing', secret, now: deps.clock.now() } as const;
        if (id !== null) await handler.handle({ aggregate: userAggregate, id }, command, context);
      };
      const outcome = await guard.run({ ...tried, tell }, check, beside);
      if (outcome.outcome === 'throttled') throw new TooManyAttempts(outcome.retryAfterSeconds);
      return outcome.outcome === 'passed' ? outcome.value : null;
    },
  };
}
