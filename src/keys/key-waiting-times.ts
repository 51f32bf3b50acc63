import type { KeyTimes, RingName } from './key-file-format.js';
import { pepperAdvice } from './needed-pepper.js';

/** Seconds between two readings of the keys in every process (docs/design.md#key-files). */
export const rereadSeconds = 30;
/** Seconds for which verifiers may cache the published keys: `max-age` of `/.well-known/jwks.json`. */
export const jwksCacheSeconds = 30;
/** After this time every process has read an added key, and no verifier has an older copy of the published keys. */
export const promoteAfterSeconds = rereadSeconds + jwksCacheSeconds;

const minuteSeconds = 60;
const daySeconds = 86_400;
/** A process that has not read its keys again, and its late writes, may use a demoted key for this long. */
const lateSeconds = 60;

/** Seconds for which values need the key that made them; null: while stored. Peppers: see `explainNeededPepper`. */
const uses: Readonly<
  Record<Exclude<RingName, 'pepper'>, { readonly seconds: number | null; readonly because: string }>
> = {
  jwt: { seconds: 10 * minuteSeconds, because: 'the access tokens that it signed are valid for 10 minutes' },
  code: {
    seconds: 3 * daySeconds,
    because: 'the codes that undo a change of address and are made with it are valid for 72 hours',
  },
  refresh: {
    seconds: 90 * daySeconds,
    because:
      'without it a user who has not used a session since is signed out for the first 14 days, and until the sessions of ' +
      'that time have ended, after 90 days, the reuse of a stolen token is not detected',
  },
  master: {
    seconds: daySeconds,
    because: 'the replies that are kept for an Idempotency-Key are sealed with it for 24 hours',
  },
  audit: { seconds: null, because: 'checkpoints that it signed can be verified only with it' },
};

/** Explains why a key may not become active yet; null when it may. */
export function whyNotPromote(times: KeyTimes, now: Date): string | null {
  // The key was active once, so every process knows it.
  if (times.demoted_at !== undefined) return null;
  if (times.added_at === undefined) return `nothing says since when it is in the ring; ${promoteAdvice}`;
  const age = secondsBetween(times.added_at, now);
  if (age >= promoteAfterSeconds) return null;
  return `it was added ${Math.max(0, Math.floor(age))} s ago; ${promoteAdvice}`;
}

/** Says when a key may become active, as part of a sentence. */
export const promoteAdvice =
  `every process and every verifier of tokens knows it only ${promoteAfterSeconds} s after it was added: ` +
  'a value that it makes before that may be refused';

/** Explains by the clock which values still need a key that is not active; null when none does. */
export function whyNotRetire(ring: RingName, times: KeyTimes, now: Date): string | null {
  const neverActive =
    times.added_at !== undefined && times.promoted_at === undefined && times.demoted_at === undefined;
  if (neverActive || ring === 'pepper') return null;
  const { seconds, because } = uses[ring];
  if (seconds === null) return because;
  if (times.demoted_at === undefined) {
    return `nothing says since when it is not the active key; ${because}`;
  }
  const age = secondsBetween(times.demoted_at, now);
  return age >= seconds + lateSeconds ? null : `it was the active key until ${times.demoted_at}; ${because}`;
}

/** Returns whether another process, or a late write, may still use a demoted key. */
export function mayStillBeUsed(times: KeyTimes, now: Date): boolean {
  return times.demoted_at !== undefined && secondsBetween(times.demoted_at, now) < lateSeconds;
}

/** Says when a key is no longer needed, as part of a sentence. */
export function retireAdvice(ring: RingName): string {
  if (ring === 'pepper')
    return `${pepperAdvice}; keys retire counts these passwords, and refuses while there are any`;
  const { seconds, because } = uses[ring];
  if (seconds === null) return `${because}; keep it`;
  const waiting =
    seconds >= daySeconds ? `${seconds / daySeconds} days` : `${seconds / minuteSeconds} minutes`;
  return `remove it ${waiting} and a minute after another key became the first one in every process: ${because}`;
}

/** Says what the operator must know after a key was retired, as part of a sentence. */
export function afterRetiring(ring: RingName): string {
  const backups = 'backups of keys that hold it end after 30 days at most';
  return ring === 'pepper' ? `${pepperAdvice}; ${backups}` : backups;
}

function secondsBetween(earlier: string, later: Date): number {
  return (later.getTime() - Date.parse(earlier)) / 1_000;
}
