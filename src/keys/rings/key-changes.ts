import { KeyProblem } from '../sealing/errors.js';
import { keyBytes, type KeyFile, type KeyTimes, type RingName, ringsOf } from './key-file-format.js';
import { formatRingKey, type RingKey } from './keyring.js';
import type { RandomBytes } from '../sealing/digests.js';

/** Makes a new file with one key in each ring. */
export function newKeyFile(randomBytes: RandomBytes): KeyFile {
  const list = () => [formatRingKey(newRingKey([], randomBytes))];
  return {
    format: 1,
    rings: ringsOf(list),
    times: {},
    index_key: randomBytes(keyBytes).toString('base64url'),
  };
}

/** Makes a key whose id is not in the ring. */
export function newRingKey(takenKids: readonly string[], randomBytes: RandomBytes): RingKey {
  for (;;) {
    const kid = `k${randomBytes(4).toString('hex')}`;
    if (!takenKids.includes(kid)) return { kid, key: randomBytes(keyBytes) };
  }
}

/** Adds a key at the end of the ring (`keys add`). It is not active yet, so that every process can read it first. */
export function addKey(
  file: KeyFile,
  ring: RingName,
  { randomBytes, now }: { readonly randomBytes: RandomBytes; readonly now: Date },
): { readonly file: KeyFile; readonly kid: string } {
  const entries = file.rings[ring];
  const added = newRingKey(kidsIn(file, ring), randomBytes);
  const changed = withRing(file, ring, [...entries, formatRingKey(added)]);
  return { file: withTimes(changed, ring, added.kid, { added_at: now.toISOString() }), kid: added.kid };
}

/** Makes a key the active one (`keys promote`). Idempotent. @throws KeyProblem when the ring has no key of this id */
export function promoteKey(file: KeyFile, ring: RingName, kid: string, now: Date): KeyFile {
  const [active, chosen] = [file.rings[ring][0], entryOf(file, ring, kid)];
  if (active === undefined || chosen === active) return file;
  const time = now.toISOString();
  const others = file.rings[ring].filter((entry) => entry !== chosen);
  const promoted = withTimes(withRing(file, ring, [chosen, ...others]), ring, kid, {
    ...timesOf(file, ring, kid),
    promoted_at: time,
    demoted_at: undefined,
  });
  const demoted = kidOf(active);
  return withTimes(promoted, ring, demoted, { ...timesOf(file, ring, demoted), demoted_at: time });
}

/** Removes a key (`keys retire`). @throws KeyProblem when the ring has no key of this id, or when the key is active */
export function retireKey(file: KeyFile, ring: RingName, kid: string): KeyFile {
  const retired = entryOf(file, ring, kid);
  if (retired === file.rings[ring][0])
    throw new KeyProblem(`${kid} is the active key of the ring ${ring}; promote another one first`);
  const others = file.rings[ring].filter((entry) => entry !== retired);
  return withTimes(withRing(file, ring, others), ring, kid, undefined);
}

/** Returns the times of a key; empty if the file has none. */
export function timesOf(file: KeyFile, ring: RingName, kid: string): KeyTimes {
  const times = file.times[ring] ?? {};
  return Object.hasOwn(times, kid) ? (times[kid] ?? {}) : {};
}

/** Returns the ids of a ring's keys, the active one first. */
export function kidsIn(file: KeyFile, ring: RingName): readonly string[] {
  return file.rings[ring].map(kidOf);
}

function entryOf(file: KeyFile, ring: RingName, kid: string): string {
  const entries = file.rings[ring];
  const found = entries.find((entry) => kidOf(entry) === kid);
  if (found !== undefined) return found;
  throw new KeyProblem(`the ring ${ring} has no such key; it has ${kidsIn(file, ring).join(', ')}`);
}

function kidOf(entry: string): string {
  const colon = entry.indexOf(':');
  // An entry without a colon may be a bare key. It has no id, and must not appear in a message.
  return colon < 0 ? '' : entry.slice(0, colon);
}

function withRing(file: KeyFile, ring: RingName, entries: readonly string[]): KeyFile {
  return { ...file, rings: { ...file.rings, [ring]: [...entries] } };
}

/** Sets the times of a key. @param times undefined removes the key's times */
function withTimes(file: KeyFile, ring: RingName, kid: string, times: KeyTimes | undefined): KeyFile {
  const others = Object.entries(file.times[ring] ?? {}).filter(([other]) => other !== kid);
  const entries = times === undefined ? others : [...others, [kid, times] as const];
  return { ...file, times: { ...file.times, [ring]: Object.fromEntries(entries) } };
}
