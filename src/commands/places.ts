import { z } from 'zod';
import type { Clock } from '../event-sourcing/clock.js';
import { Overloaded, OutcomeUnknown } from '../event-sourcing/errors.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import { entityId, instant } from '../domain/fields.js';

/**
 * A bounded number of places for things with an owner, exact also when many are taken at once: whoever is about to make
 * something claims a place in a record of the owner, which changes by compare-and-set. Claims count until the view shows
 * what they are for; a claim is no event, and one whose thing never came to be is forgotten (docs/decisions/0009).
 */
export interface Places {
  /**
   * Takes a place for a thing; one that has a place keeps it.
   * @throws what `refuse` throws; Overloaded, StoreUnavailable
   */
  take(ownerId: string, thingId: string): Promise<void>;
}

export interface PlacesDeps {
  readonly stateStore: StateStore;
  readonly clock: Clock;
  /** Records are `<name>/<owner id>`. */
  readonly name: string;
  readonly max: number;
  /** The ids of the owner's things that hold a place as the view shows it, at most `limit`. */
  readonly shown: (ownerId: string, limit: number) => Promise<readonly string[]>;
  /** What the log says of a thing that the view does not show. */
  readonly look: (thingId: string) => Promise<'absent' | 'holds-a-place' | 'holds-none'>;
  readonly refuse: () => never;
}

/** A claim of this age has no command behind it any more: an append takes 15 s at most (DESIGN 5). Clocks may differ by the rest. */
const claimMs = 60_000;
/** How long the record is kept: longer than any view lags. */
const recordMs = 86_400_000;

/** Storage format of the record. */
const recordSchema = z.strictObject({ claims: z.array(z.strictObject({ id: entityId, at: instant })) });
type Claim = z.output<typeof recordSchema>['claims'][number];

export function makePlaces({ stateStore, clock, name, max, shown, look, refuse }: PlacesDeps): Places {
  // Whoever loses a race has lost it to a place that was taken, so there are hardly more races than places.
  const triesMax = 2 * max;

  return {
    take: async (ownerId, thingId) => {
      const key = `${name}/${ownerId}`;
      for (let attempt = 0; attempt < triesMax; attempt += 1) {
        const now = clock.now();
        // The record first: a claim leaves it only when the view, which is read after it, shows the thing.
        const record = await stateStore.get(key);
        const claims = record === null ? [] : recordSchema.parse(record.value).claims;
        const known = await shown(ownerId, max + 1);
        if (known.includes(thingId) || claims.some(({ id }) => id === thingId)) return;
        const counting = await stillCounting(claims, known, now);
        if (known.length + counting.length >= max) refuse();
        const taken = [...counting, { id: thingId, at: now.toISOString() }];
        if (await write(key, record?.version ?? null, taken)) return;
      }
      throw new Overloaded(`a place in ${name} was lost to others ${triesMax} times`);
    },
  };

  /** Claims that the view does not show yet, of things that exist or are about to. */
  async function stillCounting(
    claims: readonly Claim[],
    known: readonly string[],
    now: Date,
  ): Promise<readonly Claim[]> {
    const counting: Claim[] = [];
    for (const claim of claims) {
      if (known.includes(claim.id)) continue;
      const found = await look(claim.id);
      const isYoung = now.getTime() - Date.parse(claim.at) < claimMs;
      if (found === 'holds-a-place' || (found === 'absent' && isYoung)) counting.push(claim);
    }
    return counting;
  }

  /** False when another was faster, or nobody knows: the record tells when it is read again. */
  async function write(key: string, version: string | null, claims: readonly Claim[]): Promise<boolean> {
    const expiresAt = new Date(clock.now().getTime() + recordMs);
    try {
      return (await stateStore.compareAndSet(key, version, { claims }, { expiresAt })) !== null;
    } catch (error) {
      if (error instanceof OutcomeUnknown) return false;
      throw error;
    }
  }
}
