import { mailedCode } from './mailed-code.js';
import type { DailyLimit } from './daily-count.js';
import type { ThrottleLimits } from './failure-throttle.js';
import type { RateLimit } from '../rates/gcra.js';
import type { OnSuccess } from './guarded-tries.js';

/** Failures in the state store, counted before the check. Beyond the free ones attempts are 429 until the wait ends. */
interface FailureLayer {
  /** Separates the records of this secret from those of others. */
  readonly name: string;
  readonly limits: ThrottleLimits;
  readonly onSuccess: OnSuccess;
}

interface PoolLayer {
  readonly threads: number;
  /** Hashes that wait beyond those under way. */
  readonly queue: number;
  /** Time for waiting and computing. */
  readonly timeLimitMs: number;
}

/** The layers that an attempt at a secret passes, in the order of these fields. A policy may leave out layers. */
interface GuessingPolicy {
  /** 1. Attempts of a client address at all secrets of the kind, by name in `LIMITS_FILE`. Then 429. Per process. */
  readonly client?: Readonly<Record<string, RateLimit>>;
  /** 2. Failures of all clients at one account or share in any 24 hours, counted before the check. Then 429. */
  readonly daily?: Readonly<Record<string, DailyLimit>>;
  /** 3. Failures of all clients at one secret. Beyond them each attempt waits; no client is locked out. */
  readonly pressure?: {
    readonly limit: RateLimit;
    readonly waitMs: number;
    /** Attempts that wait at once; further ones go ahead. */
    readonly waitingMax: number;
  };
  /** 4. Attempts of one client at one secret run in sequence, so that right ones do not use up the free failures. */
  readonly turns?: { readonly waitingMax: number };
  /** 5. Failures of one client at one secret. Without room in the pool the attempt ends here, and counts nowhere. */
  readonly failures?: FailureLayer;
  /** 6. Failures of all clients at one account, which only a holder of its password or mailbox can cause. */
  readonly accountFailures?: FailureLayer;
  /** 7. Attempts and life of one mailed code, by its stream. Mails that a client may request, as in `client`. */
  readonly code?: typeof mailedCode & { readonly mails: Readonly<Record<string, RateLimit>> };
  /** 8. The check itself. A full pool is 503, of shares 429. */
  readonly pool?: PoolLayer & {
    /** Hashes for clients that failed before: at most this many at once, and behind all others. */
    readonly suspectsMax?: number;
    readonly retryAfterSeconds?: number;
  };
}

/** At most 15 failures, and then 96 a day. */
const fiveFree: ThrottleLimits = {
  free: 5,
  firstWaitMs: 1_000,
  waitMsMax: 900_000,
  forgetMs: 900_000,
};

const accountPool = { threads: 2, queue: 32, timeLimitMs: 8_000 };

/** 100 in all: NIST SP 800-63B-4, section 3.2.2. Strangers have 60, so they cannot use up the part of the owner. */
const passwordsOfAccount = { known: { limit: 40, ofOneNetwork: 20 }, unknown: { limit: 60 } };

/** 96 in all, as many as codes of an authenticator: their chance is 2 in 10,000 a day. */
const codesOfAccount = { known: { limit: 40, ofOneNetwork: 20 }, unknown: { limit: 56 } };

const signIns = { login: { limit: 20, seconds: 60 } };

/** Every policy against guessing: docs/design.md#guessing. The domain holds the bounds of mailed codes. */
export const guessing = {
  /** Sign-in by address and password: by address and client. */
  password: {
    client: signIns,
    daily: passwordsOfAccount,
    failures: { name: 'login', limits: fiveFree, onSuccess: 'forget' },
    pool: accountPool,
  },
  /** The present password, for a new one: by account and client. It counts in the same days as a sign-in. */
  presentPassword: {
    client: signIns,
    daily: passwordsOfAccount,
    failures: { name: 'password', limits: fiveFree, onSuccess: 'forget' },
    pool: accountPool,
  },
  /** Codes of an authenticator, and recovery codes: by account and client. */
  secondFactor: {
    client: { two_factor: { limit: 10, seconds: 60 } },
    failures: { name: 'two-factor', limits: fiveFree, onSuccess: 'forget' },
    /**
     * Only for codes of an authenticator: recovery codes have 50 random bits. At most 34 and then 96 a day pass, each
     * with a chance of 3 in a million. NIST SP 800-63B, "Rate Limiting", bounds an account's failures over all clients.
     */
    accountFailures: {
      name: 'two-factor-account',
      limits: { free: 30, firstWaitMs: 60_000, waitMsMax: 900_000, forgetMs: 900_000 },
      // The owner's success must not give a guesser the free failures again.
      onSuccess: 'withdraw',
    },
  },
  /** Mailed codes that sign in. */
  signInCode: {
    client: signIns,
    daily: codesOfAccount,
    code: {
      ...mailedCode,
      mails: { email_code: { limit: 5, seconds: 600 }, email_code_day: { limit: 30, seconds: 86_400 } },
    },
  },
  /** Mailed codes that prove a new address. Only a session of the account reaches them. */
  addressChangeCode: {
    code: { ...mailedCode, mails: { email_change: { limit: 5, seconds: 600 } } },
  },
  /** Codes that undo a change of address. They have 100 bits, so failures void none, and a thief cannot block the owner. */
  addressRevertCode: { client: { email_revert: { limit: 10, seconds: 60 } } },
  /** Passwords of shares: by share and client. */
  sharePassword: {
    client: { share_verify: { limit: 30, seconds: 60 } },
    /** 10,000 passwords of four digits last 10 days. */
    daily: { short: { limit: 1_000 }, long: { limit: 100_000 } },
    pressure: {
      limit: { limit: 30, seconds: 900 },
      waitMs: 1_000,
      waitingMax: 500,
    },
    turns: { waitingMax: 64 },
    failures: {
      name: 'share',
      limits: { free: 5, firstWaitMs: 60_000, waitMsMax: 3_600_000, forgetMs: 900_000 },
      onSuccess: 'forget',
    },
    // A pool apart from the accounts': a flood of visitors delays no sign-in.
    pool: { threads: 2, queue: 128, timeLimitMs: 8_000, suspectsMax: 64, retryAfterSeconds: 2 },
  },
} as const satisfies Readonly<Record<string, GuessingPolicy>>;
