import { z } from 'zod';
import { StoreDamaged, StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import type { JsonValue } from '../../event-sourcing/ports/domain-event.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { type RandomBytes, makeDigests } from '../sealing/digests.js';
import { openEnvelope, sealEnvelope } from '../sealing/envelope.js';
import { DoesNotOpen, KeyProblem } from '../sealing/errors.js';
import { ringNames, type RingName, ringsOf } from './key-file-format.js';
import { type KeyMaterial, keySettingNames } from './key-rings.js';

/** The record of the state store that shows which keys the data was made with. */
export const canaryRecord = 'canary/keys';

const triesMax = 20;

/** A ring's keys that this data knows: by id a value that the key has sealed, and the key that was active last. */
const ringSchema = z.strictObject({ active: z.string(), sealed: z.record(z.string(), z.string()) });

/** Storage format of the record. */
const canariesSchema = z.strictObject({
  /** The log that belongs to this state. */
  log_id: z.string(),
  /** A digest with INDEX_KEY. */
  index: z.string(),
  rings: z.strictObject(ringsOf(() => ringSchema)),
});
export type Canaries = z.output<typeof canariesSchema>;
type RingCanaries = z.output<typeof ringSchema>;

/** The keys that canaries are compared with. */
type CheckedKeys = Pick<KeyMaterial, RingName | 'indexKey'>;

/** A key that does not match the data. `sentence` names the variable and the remedy. */
type KeyMismatch = { readonly ring: RingName | 'index'; readonly sentence: string };

/** Checks that the keys of the process are those that made the data (src/keys/README.md#keys-and-data). */
export type KeyCanaries = ReturnType<typeof makeKeyCanaries>;

export function makeKeyCanaries(deps: {
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly keys: CheckedKeys;
  readonly logId: () => Promise<string>;
  /** Counts the data keys by the master key that wraps them. It reads all of them. */
  readonly countByMasterKey: () => Promise<ReadonlyMap<string, number>>;
  /** Tells whether the log has an event of this service. */
  readonly hasEvents: () => Promise<boolean>;
  readonly randomBytes: RandomBytes;
}) {
  const { stateStore, keys, logId, countByMasterKey, hasEvents, randomBytes } = deps;
  return {
    /**
     * Compares keys and log with the canaries, and writes the canaries at the first start. A refusal writes nothing.
     * @throws KeyProblem naming every variable with a wrong key; StoreDamaged: the state is missing, or another log's;
     * StoreUnavailable
     */
    check: () => run('start'),
    /** Writes the canaries of a ring that has changed while the process runs. @throws as `check` */
    follow: () => run('change'),
  };

  async function run(moment: 'start' | 'change'): Promise<void> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const stored = await stateStore.get(canaryRecord);
      const found = stored === null ? null : parseCanaries(stored.value);
      if (found !== null) {
        refuse(findMismatches(found, keys, moment));
        refuse(await missingMasterKeys(found));
      }
      const next = { log_id: await ownLog(found), ...nextCanaries(found) };
      if (found === null && (await hasEvents())) {
        // The first start writes canaries before events. So another process has written both meanwhile, or the state is lost.
        if ((await stateStore.get(canaryRecord)) === null) throw stateMissing();
        continue;
      }
      if (found !== null && JSON.stringify(next) === JSON.stringify(found)) return;
      // When another process was faster, its canaries are compared in turn.
      if ((await stateStore.compareAndSet(canaryRecord, stored?.version ?? null, next)) !== null) return;
    }
    throw new StoreUnavailable('the canaries of the keys could not be stored: other processes change them');
  }

  async function ownLog(found: Canaries | null): Promise<string> {
    const id = await logId();
    if (found === null || found.log_id === id) return id;
    throw new StoreDamaged(
      `the state belongs to the log ${found.log_id}, and the configured log is ${id}: ` +
        'restore log and state from one backup, or configure the log that the state belongs to',
    );
  }

  /** Finds master keys that the ring has lost although data keys are wrapped with them. It counts after a loss only. */
  async function missingMasterKeys(found: Canaries): Promise<readonly KeyMismatch[]> {
    const { master } = keys;
    const lost = Object.keys(found.rings.master.sealed).filter((kid) => master.find(kid) === undefined);
    if (lost.length === 0) return [];
    return unknownMasterKeys(await countByMasterKey(), keys);
  }

  function nextCanaries(found: Canaries | null): Omit<Canaries, 'log_id'> {
    const rings = ringsOf((name) => ({
      active: keys[name].active().kid,
      sealed: Object.fromEntries(
        keys[name]
          .all()
          .toSorted((one, other) => (one.kid < other.kid ? -1 : 1))
          .map(({ kid, key }) => [kid, sealedWith(found?.rings[name], kid) ?? seal(name, kid, key)]),
      ),
    }));
    return { index: indexDigest(keys.indexKey), rings };
  }

  function seal(ring: RingName, kid: string, key: Buffer): string {
    return sealEnvelope(key, ['canary', ring, kid], Buffer.from(ring), randomBytes);
  }
}

/** Parses the record. @throws StoreDamaged */
export function parseCanaries(value: JsonValue): Canaries {
  const parsed = canariesSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new StoreDamaged(
    `the record ${canaryRecord} of the state store is not one of this release; restore the state from a backup`,
  );
}

/**
 * Compares keys with canaries. A ring must contain the key that was active last. While the process runs, an operator may
 * remove that key: then the ring's active key must be one that the data knows.
 */
export function findMismatches(
  found: Canaries,
  keys: CheckedKeys,
  moment: 'start' | 'change' = 'start',
): readonly KeyMismatch[] {
  const mismatches = ringNames.flatMap((ring): readonly KeyMismatch[] => {
    const canaries = found.rings[ring];
    const { active } = canaries;
    const wrong = keys[ring].all().filter(({ kid, key }) => {
      const sealed = sealedWith(canaries, kid);
      return sealed !== undefined && !opens(ring, kid, key, sealed);
    });
    const name = keySettingNames[ring];
    if (wrong.length > 0) {
      const kids = wrong.map(({ kid }) => kid).join(', ');
      return [
        {
          ring,
          sentence: `${name}: the key ${kids} is not the one of this name that the data was made with`,
        },
      ];
    }
    const isKept =
      keys[ring].find(active) !== undefined ||
      (moment === 'change' && sealedWith(canaries, keys[ring].active().kid) !== undefined);
    if (isKept) return [];
    return [
      {
        ring,
        sentence: `${name} lacks the key ${active} that the data was made with; put it back, behind a newer key if there is one`,
      },
    ];
  });
  if (indexDigest(keys.indexKey) === found.index) return mismatches;
  const sentence = `${keySettingNames.index} is not the key that the data was made with`;
  return [...mismatches, { ring: 'index', sentence }];
}

/** Returns the mismatch of master keys that wrap data keys and are not in the ring; none where there are none. */
export function unknownMasterKeys(
  counts: ReadonlyMap<string, number>,
  { master }: Pick<CheckedKeys, 'master'>,
): readonly KeyMismatch[] {
  const unknown = [...counts].filter(([kid, count]) => count > 0 && master.find(kid) === undefined);
  return unknown.map(([kid, count]) => ({
    ring: 'master',
    sentence: `${keySettingNames.master} lacks the key ${kid}, which wraps ${count} data keys; put it back at the list's end`,
  }));
}

function refuse(mismatches: readonly KeyMismatch[]): void {
  if (mismatches.length === 0) return;
  const sentences = mismatches.map(({ sentence }) => sentence).join('; ');
  throw new KeyProblem(
    `the keys do not match the data: ${sentences}. Set the keys that the data was made with, or restore keys.json ` +
      'from a backup. Nothing was written',
  );
}

function stateMissing(): StoreDamaged {
  return new StoreDamaged(
    `the log has events, and the state store lacks the record ${canaryRecord} of their keys: the state is missing. Restore ` +
      'log and state (state.db, or the collection state) from one backup. Without its data keys no personal data opens',
  );
}

/** Returns the value that the key of this id has sealed. An id such as `constructor` names no inherited property. */
function sealedWith(canaries: RingCanaries | undefined, kid: string): string | undefined {
  return canaries !== undefined && Object.hasOwn(canaries.sealed, kid) ? canaries.sealed[kid] : undefined;
}

function opens(ring: RingName, kid: string, key: Buffer, sealed: string): boolean {
  try {
    return openEnvelope(key, ['canary', ring, kid], sealed).toString() === ring;
  } catch (error) {
    if (error instanceof DoesNotOpen) return false;
    throw error;
  }
}

function indexDigest(indexKey: Buffer): string {
  return makeDigests(indexKey).of('canary', 'INDEX_KEY');
}
