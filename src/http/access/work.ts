import { countReturned, type Returned } from '../../event-sourcing/ports/returned.js';
import type { LimitName } from '../../security/rates/limits.js';
import type { RateKey } from '../../security/rates/rate-limit.js';
import { HttpError } from '../replies/http-error.js';
import type { Limiter } from './limits.js';

/** The limits of work: src/http/access/README.md#work. */
type WorkLimit = Extract<LimitName, `work_${string}`>;

/** Counts what stores return to requests, and charges it to those who asked for it. */
export interface WorkCharges {
  begin(): RequestWork;
}

/** The work of one request. */
export interface RequestWork {
  run<Result>(work: () => Result): Result;
  readonly charge: ChargeWork;
  /** Waits, once the payer is known, while the payer has had enough of the present turn. Undefined where it does not wait. */
  takeTurn(): Promise<void> | undefined;
  /** Charges the work, once, when the request ends. */
  end(): void;
}

/** @throws HttpError 429 while what was charged before exceeds the limit; then the request charges nothing to it */
export type ChargeWork = (name: WorkLimit, key: RateKey) => void;

/** What a payer may have of a turn of the event loop: about half a page. A request counts as some documents beside its own. */
const turnMax = 100;
const requestCost = 10;

/**
 * What a request costs is known when it ends, so a limit refuses the requests after the one that exceeds it.
 * @param yieldTurn calls back after the process had its turn for other work
 */
export function makeWorkCharges(
  limiter: Limiter,
  yieldTurn: (next: () => void) => void = setImmediate,
): WorkCharges {
  /** What payers had of the present turn. */
  const had = new Map<string, number>();
  /** The last request of each payer that waits for a turn. Embedded stores answer at once, so no other wait divides the work. */
  const lines = new Map<string, Promise<void>>();

  return {
    begin: () => {
      const returned: Returned = { count: 0 };
      const charged: (readonly [WorkLimit, RateKey])[] = [];
      return {
        run: (work) => countReturned(returned, work),
        charge: (name, key) => {
          const { allowed, retryAfterSeconds: retryAfter } = limiter.probe(name, key);
          // No figures: those of the other limits count requests.
          if (!allowed)
            throw new HttpError('rate_limited', `${sentences[name]}; wait and try again`, { retryAfter });
          charged.push([name, key]);
        },
        takeTurn: () => {
          const payer = payerOf(charged);
          return lines.has(payer) || (had.get(payer) ?? 0) >= turnMax ? waitInLine(payer) : undefined;
        },
        end: () => {
          note(payerOf(charged), returned.count + requestCost);
          for (const [name, key] of charged) limiter.charge(name, key, returned.count);
        },
      };
    },
  };

  function note(payer: string, count: number): void {
    if (had.size === 0) {
      yieldTurn(() => {
        had.clear();
      });
    }
    had.set(payer, (had.get(payer) ?? 0) + count);
  }

  /** Each request that waits begins in another turn, so other payers have theirs between. */
  async function waitInLine(payer: string): Promise<void> {
    const before = lines.get(payer);
    const mine = (async () => {
      await before;
      await new Promise<void>(yieldTurn);
    })();
    lines.set(payer, mine);
    await mine;
    if (lines.get(payer) === mine) lines.delete(payer);
  }
}

/** The first who is charged is a user or a client. */
function payerOf([first]: readonly (readonly [WorkLimit, RateKey])[]): string {
  const key = first?.[1] ?? '';
  return typeof key === 'string' ? key : (key[0]?.key ?? '');
}

const sentences: Readonly<Record<WorkLimit, string>> = {
  work_user: 'the requests of this user or client have read too much',
  work_project: 'the requests for this project have read too much',
};
