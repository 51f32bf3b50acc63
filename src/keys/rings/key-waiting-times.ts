import { isRecent } from '../../kit/time/clock.js';
import type { KeyTimes, RingName } from './key-file-format.js';
import { pepperAdvice } from './keyring.js';

/** Seconds between two readings of the keys in every process (src/keys/README.md#key-files). */
export const rereadSeconds = 30;
/** Seconds for which verifiers may cache the published keys: `max-age` of `/.well-known/jwks.json`. */
export const jwksCacheSeconds = 30;
/** After this time every process has read an added key, and no verifier has an older copy of the published keys. */
export const promoteAfterSeconds = rereadSeconds + jwksCacheSeconds;

const minuteSeconds = 60;
const daySeconds = 86_400;
/** A process that has not read its keys again, and its late writes, may use a demoted key for this long. */
const lateSeconds = 60;

/** All audit keys sign side by side. Auditors have this time to get the public key of a new one. */
const auditorSeconds = 30 * daySeconds;

/** Seconds for which values need the key that made them. Peppers: see `explainNeededPepper`. */
const uses: Readonly<
  Record<Exclude<RingName, 'pepper' | 'audit'>, { readonly seconds: number; readonly because: string }>
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
};

const auditorsWait =
  'an auditor who has no other public key than that of the retired one can verify no new checkpoint';

/** Explains why a key may not become active yet; null when it may. */
export function whyNotPromote(times: KeyTimes, now: Date): string | null {
  // The key was active once, so every process knows it.
  if (times.demoted_at !== undefined) return null;
  if (times.added_at === undefined) return `the key file has no time at which it was added; ${promoteAdvice}`;
  const age = secondsBetween(times.added_at, now);
  if (age >= promoteAfterSeconds) return null;
  return `it was added ${Math.max(0, Math.floor(age))} s ago; ${promoteAdvice}`;
}

/** Says when a key may become active, as part of a sentence. */
export const promoteAdvice =
  `wait ${promoteAfterSeconds} s after a key was added: ` +
  'until then a process or a verifier of tokens may refuse what it makes';

/**
 * Explains by the clock which values still need a key that is not active; null when none does.
 * @param others the times of the keys that stay in the ring
 */
export function whyNotRetire(
  ring: RingName,
  times: KeyTimes,
  others: readonly KeyTimes[],
  now: Date,
): string | null {
  if (ring === 'audit') return whyNotRetireAudit(times, others, now);
  const neverActive =
    times.added_at !== undefined && times.promoted_at === undefined && times.demoted_at === undefined;
  if (neverActive || ring === 'pepper') return null;
  const { seconds, because } = uses[ring];
  if (times.demoted_at === undefined) return `the key file has no time until which it was active; ${because}`;
  const age = secondsBetween(times.demoted_at, now);
  return age >= seconds + lateSeconds ? null : `it was the active key until ${times.demoted_at}; ${because}`;
}

/** An audit key signs from its addition on, active or not, so the clock is that of the keys that stay. */
function whyNotRetireAudit(times: KeyTimes, others: readonly KeyTimes[], now: Date): string | null {
  const { added_at: addedAt } = times;
  // An auditor who got the key got the older one with it. A key without this time was made with the file.
  const isYounger = others.some(
    ({ added_at: other }) => addedAt !== undefined && (other === undefined || other <= addedAt),
  );
  const since = others
    .flatMap((other) => other.added_at ?? other.promoted_at ?? other.demoted_at ?? [])
    .sort()[0];
  if (isYounger) return null;
  if (since === undefined) return `the key file has no time since which another key signs; ${auditorsWait}`;
  const isKnown = secondsBetween(since, now) >= auditorSeconds + lateSeconds;
  return isKnown
    ? null
    : `the key that replaces it signs only since ${since}, not for 30 days; ${auditorsWait}`;
}

/** Returns whether another process, or a late write, may still use a demoted key. */
export function mayStillBeUsed(times: KeyTimes, now: Date): boolean {
  const { demoted_at: at } = times;
  return at !== undefined && isRecent(new Date(at), lateSeconds * 1_000, now);
}

/** Says what comes after a key was added, as part of a sentence. */
export function adviceAfterAdding(ring: RingName): string {
  return ring === 'audit'
    ? `it signs from now on beside the others: give auditors its public key, which audit key prints; ${promoteAdvice}`
    : promoteAdvice;
}

/** Says when a key is no longer needed, as part of a sentence. */
export function retireAdvice(ring: RingName): string {
  if (ring === 'pepper')
    return `${pepperAdvice}; keys retire counts these passwords, and refuses while there are any`;
  if (ring === 'audit')
    return `remove it 30 days and a minute after another key was added in every process: before, ${auditorsWait}`;
  const { seconds, because } = uses[ring];
  const waiting =
    seconds >= daySeconds ? `${seconds / daySeconds} days` : `${seconds / minuteSeconds} minutes`;
  return `remove it ${waiting} and a minute after another key became the first one in every process: ${because}`;
}

/** Says what the operator must know after a key was retired, as part of a sentence. */
export function afterRetiring(ring: RingName): string {
  const backups = 'backups of keys that hold it end after 30 days at most';
  if (ring === 'pepper') return `${pepperAdvice}; ${backups}`;
  if (ring === 'audit') return `auditors keep its public key for the checkpoints that it signed; ${backups}`;
  return backups;
}

function secondsBetween(earlier: string, later: Date): number {
  return (later.getTime() - Date.parse(earlier)) / 1_000;
}
