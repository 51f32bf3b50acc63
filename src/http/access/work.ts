import { carrying } from '../../kit/work-context.js';
import type { LimitName } from '../../security/rates/limits.js';
import type { RateKey } from '../../security/rates/rate-limit.js';
import { HttpError } from '../replies/error-codes.js';
import type { Limiter } from './limits.js';

/** The limits of work: src/http/access/README.md#work. */
type WorkLimit = Extract<LimitName, `work_${string}`>;

/** Counts what stores return to requests, and charges it to those who asked for it. */
export type WorkCharges = ReturnType<typeof makeWorkCharges>;

/** The work of one request. */
export interface RequestWork {
  run<Result>(work: () => Result): Result;
  readonly charge: ChargeWork;
  /** Charges the work, once, when the request ends. */
  end(): void;
}

/** @throws HttpError 429 while what was charged before exceeds the limit; then the request charges nothing to it */
export type ChargeWork = (name: WorkLimit, key: RateKey) => void;

/** What a request costs is known when it ends, so a limit refuses the requests after the one that exceeds it. */
export function makeWorkCharges(limiter: Limiter) {
  return {
    begin: (): RequestWork => {
      const returned = { count: 0 };
      const charged: (readonly [WorkLimit, RateKey])[] = [];
      return {
        run: (work) => carrying({ returned }, work),
        charge: (name, key) => {
          const { allowed, retryAfterSeconds: retryAfter } = limiter.probe(name, key);
          // No figures: those of the other limits count requests.
          if (!allowed)
            throw new HttpError('rate_limited', `${sentences[name]}; wait and try again`, { retryAfter });
          charged.push([name, key]);
        },
        end: () => {
          for (const [name, key] of charged) limiter.charge(name, key, returned.count);
        },
      };
    },
  };
}

const sentences: Readonly<Record<WorkLimit, string>> = {
  work_user: 'the requests of this user or client have read too much',
  work_project: 'the requests for this project have read too much',
};
