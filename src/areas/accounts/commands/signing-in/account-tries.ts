import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { Overloaded } from '../../../../kit/overloaded.js';
import type { GuessedSecret } from '../../domain/user/events.js';
import { userAggregate } from '../../domain/user/user.js';
import type { Requester } from '../../../../validation/fields.js';
import {
  type BudgetOutcome,
  type DailyBudget,
  makeDailyBudget,
} from '../../../../security/guessing/daily-budget.js';
import type { DailyLimit } from '../../../../security/guessing/daily-count.js';
import type { GuardedTries, TryOutcome } from '../../../../security/guessing/guarded-tries.js';
import type { KnownNetworks } from '../../../../security/guessing/known-networks.js';
import { TryPutOff } from '../../../../security/guessing/undecided.js';
import type { AccountDeps } from '../../deps.js';
import type { FindAccount } from './find-account.js';

/** An attempt at a secret of an account. */
export interface AccountTry {
  /** Of the account's present address. An address without an account counts alike. */
  readonly emailDigest: string;
  /** In canonical spelling. */
  readonly clientIp: string;
}

/**
 * Bounds the wrong attempts at a secret of an account in any 24 hours, over all clients and processes. Clients of known
 * networks have a separate budget (docs/design.md#guessing). The owner gets a mail about the first failure without room.
 */
export interface AccountTries {
  /**
   * @param check returns the value of a success, or null for a failure; see `DailyBudget`
   * @param around slows the client down in addition; it runs only if the budget has room
   * @throws StoreUnavailable; Overloaded
   */
  run<T>(
    of: AccountTry,
    check: (requester: Requester) => Promise<T | null>,
    context: CommandContext,
    around?: (inner: () => Promise<T | null>) => Promise<TryOutcome<T>>,
  ): Promise<TryOutcome<T>>;
}

export function makeAccountTries({
  secret,
  limits,
  networks,
  findAccount,
  background,
  handler,
  ...deps
}: Pick<AccountDeps, 'handler' | 'background' | 'stateStore' | 'digests' | 'clock'> & {
  readonly secret: GuessedSecret;
  readonly limits: Readonly<Record<Requester, DailyLimit>>;
  readonly networks: Pick<KnownNetworks, 'requesterOf'>;
  readonly findAccount: FindAccount;
}): AccountTries {
  const budgetOf = (requester: Requester) =>
    makeDailyBudget({ ...deps, name: `${secret}-${requester}`, limit: limits[requester] });
  const budgets = { known: budgetOf('known'), unknown: budgetOf('unknown') };
  const telling = new Set<string>();

  return {
    run: async ({ emailDigest, clientIp }, check, context, around) => {
      const { requester, network } = await networks.requesterOf({ emailDigest, clientIp });
      const budget = budgets[requester];
      const looked = await budget.look({
        subject: emailDigest,
        network: requester === 'known' ? network : '',
      });
      if (looked.outcome === 'full') return settle(looked);
      if (around === undefined) return settle(await looked.run(() => check(requester)));
      // A failure that has no room counts for no client either.
      const inner = async () => {
        const tried = settle(await looked.run(() => check(requester)));
        if (tried.outcome === 'throttled') throw new TryPutOff(tried.retryAfterSeconds);
        return tried.outcome === 'passed' ? tried.value : null;
      };
      return around(inner).catch((error: unknown) => {
        if (!(error instanceof TryPutOff)) throw error;
        return { outcome: 'throttled', retryAfterSeconds: error.retryAfterSeconds } as const;
      });

      function settle<T>(tried: BudgetOutcome<T>): TryOutcome<T> {
        switch (tried.outcome) {
          case 'passed':
            return tried;
          case 'failed':
            if (tried.filled) tell(budget, emailDigest, context);
            return { outcome: 'failed' };
          case 'full':
            if (tried.isNews) tell(budget, emailDigest, context);
            return { outcome: 'throttled', retryAfterSeconds: tried.retryAfterSeconds };
        }
      }
    },
  };

  /** Appends the event after the reply. If a crash or a full queue loses that, the next attempt appends it. */
  function tell(budget: DailyBudget, emailDigest: string, context: CommandContext): void {
    if (telling.has(emailDigest)) return;
    try {
      background.start('the guessing at an account was not recorded', async () => {
        telling.add(emailDigest);
        try {
          const account = await findAccount(emailDigest);
          if (account !== null) {
            const target = { aggregate: userAggregate, id: account.userId };
            await handler.handle(target, { type: 'RecordGuessing', secret, now: deps.clock.now() }, context);
          }
          await budget.markTold(emailDigest);
        } finally {
          telling.delete(emailDigest);
        }
      });
    } catch (error) {
      if (!(error instanceof Overloaded)) throw error;
    }
  }
}

/** Adds the failures of one client, which has to wait longer each time. */
export function perClient<T>(
  tries: GuardedTries,
  of: { readonly subject: string; readonly clientIp: string },
  admit?: () => void,
): (inner: () => Promise<T | null>) => Promise<TryOutcome<T>> {
  return (inner) => tries.run(of, inner, admit);
}
