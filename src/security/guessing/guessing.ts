import { mailedCode } from './mailed-code.js';
import type { Backoff, FailureLimits } from './failures.js';

/** At most 15 failures, and then 96 a day. */
const fiveFree: Backoff = { free: 5, firstWaitMs: 1_000, waitMsMax: 900_000, forgetMs: 900_000 };
const fiveFreeOfShare: Backoff = { free: 5, firstWaitMs: 60_000, waitMsMax: 3_600_000, forgetMs: 900_000 };

/** Strangers have a separate part, so they cannot use up that of the owner's devices. */
const ofAccount = (unknown: number): FailureLimits => ({
  backoff: fiveFree,
  day: { known: { limit: 40, ofOne: 20 }, unknown: { limit: unknown } },
});
/** Visitors who opened the share before know its password, so theirs are mistyped. */
const ofShare = (unknown: number): FailureLimits => ({
  backoff: fiveFreeOfShare,
  day: { known: { limit: 1_000, ofOne: 20 }, unknown: { limit: unknown } },
});

const signIns = { login: { limit: 20, seconds: 60 } };

/**
 * Every policy against guessing (src/security/README.md#guessing), each with what bounds an attempt, in the order in which it passes them:
 * `client`, attempts of a client at all secrets of the kind, by name in `LIMITS_FILE` and by process; `failures` of one client at
 * the subject, and of a day (`makeGuard`); `code`, attempts and life of one mailed code, and the mails that a client may request;
 * `pool`, the hashes that run and wait.
 */
export const guessing = {
  /** The password of an account in all its uses, by address. 100 in all: NIST SP 800-63B-4, section 3.2.2. */
  password: { client: signIns, failures: ofAccount(60), pool: { queue: 32, timeLimitMs: 8_000 } },
  /** Mailed codes of six digits that sign in, by address. 96 in all: their chance is 1 in 10,000 a day. */
  signInCode: {
    client: signIns,
    failures: ofAccount(56),
    code: {
      ...mailedCode,
      mails: { email_code: { limit: 5, seconds: 600 }, email_code_day: { limit: 30, seconds: 86_400 } },
    },
  },
  /** Codes of an authenticator, by account. Each has a chance of 3 in a million. Recovery codes have 50 random bits. */
  secondFactor: { client: { two_factor: { limit: 10, seconds: 60 } }, failures: ofAccount(56) },
  /** Mailed codes that prove a new address. Only a session of the account reaches them. */
  addressChangeCode: { code: { ...mailedCode, mails: { email_change: { limit: 5, seconds: 600 } } } },
  /** Codes that undo a change of address. They have 100 bits, so failures void none, and a thief cannot block the owner. */
  addressRevertCode: { client: { email_revert: { limit: 10, seconds: 60 } } },
  /** Passwords of shares, by share and password. 10,000 passwords of four digits last 10 days. */
  sharePassword: {
    client: { share_verify: { limit: 30, seconds: 60 } },
    failures: { short: ofShare(1_000), long: ofShare(100_000) },
    // A pool apart from the accounts': a flood of visitors delays no sign-in.
    pool: { queue: 128, timeLimitMs: 8_000, retryAfterSeconds: 2 },
  },
} as const;

/** So many failures of all clients in the last minutes are noted at a share. */
export const notedFailures = 30;
