import type { KeyTimes, RingName } from './key-file-format.js';
import { pepperAdvice } from './needed-pepper.js';

/** Seconds after which every process reads its keys anew (DESIGN 6). */
export const rereadSeconds = 30;
/** Seconds for which verifiers may keep the published keys: `max-age` of `/.well-known/jwks.json`. */
export const jwksCacheSeconds = 30;
/**
 * Seconds from `keys add` to `keys promote`: by then every process has read the key, and no verifier keeps a copy of the
 * published keys that was made before.
 */
export const promoteAfterSeconds = rereadSeconds + jwksCacheSeconds;

const minuteSeconds = 60;
const daySeconds = 86_400;
/** A key may be used this long after it was demoted: by a process that has not read its keys anew, and its late writes. */
const lateSeconds = 60;

/**
 * For how long things made with a key need it, in seconds; null: for as long as they are stored. What needs a pepper can be
 * counted: see `explainNeededPepper`.
 */
const uses: Readonly<
  Record<Exclude<RingName, 'pepper'>, { readonly seconds: number | null; readonly because: string }>
> = {
  jwt: { seconds: 10 * minuteSeconds, because: 'the access tokens that it signed are valid for 10 minutes' },
  code: { seconds: 10 * minuteSeconds, because: 'the codes made with it are valid for 10 minutes' },
  refresh: {
    seconds: 90 * daySeconds,
    because:
      'without it whoever has not used a session since is signed out for the first 14 days, and until the sessions of ' +
      'then have ended, after 90 days, the reuse of a stolen token is not noticed',
  },
  master: {
    seconds: daySeconds,
    because: 'the replies that are kept for an Idempotency-Key are sealed with it for 24 hours',
  },
  audit: { seconds: null, because: 'checkpoints that it signed can be verified only with it' },
};

/** Why a key may not be the active one yet; null when it may. */
export function whyNotPromote(times: KeyTimes, now: Date): string | null {
  // It was the active one, so everybody knows it.
  if (times.demoted_at !== undefined) return null;
  if (times.added_at === undefined) return `nothing says since when it is in the ring; ${promoteAdvice}`;
  const age = secondsBetween(times.added_at, now);
  if (age >= promoteAfterSeconds) return null;
  return `it was added ${Math.max(0, Math.floor(age))} s ago; ${promoteAdvice}`;
}

/** When a key may be made the active one, as a sentence. */
export const promoteAdvice =
  `every process and every verifier of tokens knows it only ${promoteAfterSeconds} s after it was added: ` +
  'what is made with it before that may be refused';

/** What would still need a key that is not the active one, as far as the clock tells; null when nothing does. */
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

/** Whether another process, or a write that is late, may still make something with a key that was demoted. */
export function mayStillBeUsed(times: KeyTimes, now: Date): boolean {
  return times.demoted_at !== undefined && secondsBetween(times.demoted_at, now) < lateSeconds;
}

/** When a key is not needed any more, as a sentence. */
export function retireAdvice(ring: RingName): string {
  if (ring === 'pepper')
    return `${pepperAdvice}; keys retire counts these passwords, and refuses while there are any`;
  const { seconds, because } = uses[ring];
  if (seconds === null) return `${because}; keep it`;
  const waiting =
    seconds >= daySeconds ? `${seconds / daySeconds} days` : `${seconds / minuteSeconds} minutes`;
  return `remove it ${waiting} and a minute after another key became the first one in every process: ${because}`;
}

/** What is left to know when a key has been retired, as a sentence. */
export function afterRetiring(ring: RingName): string {
  const backups = 'backups of keys that hold it end after 30 days at most';
  return ring === 'pepper' ? `${pepperAdvice}; ${backups}` : backups;
}

function secondsBetween(earlier: string, later: Date): number {
  return (later.getTime() - Date.parse(earlier)) / 1_000;
}
