import { z } from 'zod';
import type { Clock } from '../event-sourcing/clock.js';
import { Overloaded, OutcomeUnknown } from '../event-sourcing/errors.js';
import { makeKeyedBatches } from '../event-sourcing/keyed-batches.js';
import { makeLru } from '../event-sourcing/lru.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import { entityId, instant } from '../domain/fields.js';

/**
 * A bounded number of places for things with an owner, exact also when many are taken at once: whoever is about to make
 * something claims a place in a record of the owner, which changes by compare-and-set. Claims count until the view shows
 * what they are for; a claim is no event, and one whose thing never came to be is forgotten (docs/decisions/0009).
 */
export interface Places {
  /**
   * Refuses as `take` would, but takes nothing and mostly reads nothing: so that a full owner costs nothing further.
   * @throws what `refuse` throws; StoreUnavailable
   */
  check(ownerId: string, thingId: string): Promise<void>;
  /**
   * Takes a place for a thing, which has to be appended at once; one that has a place keeps it.
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
/** How long what was read of an owner is used again: far less than an absent record, which has no version, may have come and gone in. */
const pictureMs = 10_000;
const picturesMax = 10_000;

/** Storage format of the record. */
const recordSchema = z.strictObject({ claims: z.array(z.strictObject({ id: entityId, at: instant })) });
type Claim = z.output<typeof recordSchema>['claims'][number];

/**
 * Everything of an owner that holds a place, and perhaps some that do no longer. Nothing can come to hold one without
 * changing the record, so while the record is at `version` there are no others; a write over another version is refused.
 */
interface Picture {
  readonly readAtMs: number;
  /** Null: there is no record. */
  readonly version: string | null;
  readonly shown: ReadonlySet<string>;
  /** Those of the record's claims that the view does not show. */
  readonly claims: readonly Claim[];
}

export function makePlaces({ stateStore, clock, name, max, shown, look, refuse }: PlacesDeps): Places {
  // Whoever loses a race has lost it to a place that was taken, so there are hardly more races than places.
  const triesMax = 2 * max;
  const pictures = makeLru<Picture>(picturesMax);
  const takeTogether = makeKeyedBatches({ waitingMax: 1_000, run: takeAll });

  return {
    check: async (ownerId, thingId) => {
      const { fitting } = await fit(ownerId, [thingId]);
      if (!fitting.has(thingId)) refuse();
    },
    take: async (ownerId, thingId) => {
      const fitting = await takeTogether(ownerId, thingId);
      if (!fitting.has(thingId)) refuse();
    },
  };

  /** Takes places for as many of the things as there are, in one write. Returns those that have one. */
  async function takeAll(ownerId: string, thingIds: readonly string[]): Promise<ReadonlySet<string>> {
    for (let attempt = 0; attempt < triesMax; attempt += 1) {
      const { picture, fitting } = await fit(ownerId, thingIds);
      const unseen = [...fitting].filter((id) => !picture.shown.has(id));
      if (unseen.length === 0) return fitting;
      // A claim that stands there already may be about to be forgotten, so it is made anew.
      const at = clock.now().toISOString();
      const others = picture.claims.filter(({ id }) => !fitting.has(id));
      const claims = [...others, ...unseen.map((id) => ({ id, at }))];
      const version = await write(`${name}/${ownerId}`, picture.version, claims);
      if (version !== null) {
        pictures.set(ownerId, { ...picture, version, claims });
        return fitting;
      }
      pictures.delete(ownerId);
    }
    throw new Overloaded(`a place in ${name} was lost to others ${triesMax} times`);
  }

  /** Those of the things that have a place or find one, by the newest picture unless an older one has room for all. */
  async function fit(
    ownerId: string,
    thingIds: readonly string[],
  ): Promise<{ readonly picture: Picture; readonly fitting: ReadonlySet<string> }> {
    const known = remembered(ownerId);
    if (known !== undefined) {
      const fitting = fittingIn(known, thingIds);
      if (fitting.size === thingIds.length) return { picture: known, fitting };
    }
    let picture = await read(ownerId);
    if (fittingIn(picture, thingIds).size < thingIds.length) {
      picture = { ...picture, claims: await stillCounting(picture.claims) };
    }
    pictures.set(ownerId, picture);
    return { picture, fitting: fittingIn(picture, thingIds) };
  }

  function fittingIn({ shown: known, claims }: Picture, thingIds: readonly string[]): ReadonlySet<string> {
    const holding = new Set(known);
    for (const { id } of claims) holding.add(id);
    const fitting = new Set<string>();
    for (const id of thingIds) {
      if (!holding.has(id) && holding.size >= max) continue;
      holding.add(id);
      fitting.add(id);
    }
    return fitting;
  }

  function remembered(ownerId: string): Picture | undefined {
    const picture = pictures.get(ownerId);
    const ageMs = clock.now().getTime() - (picture?.readAtMs ?? 0);
    return ageMs >= 0 && ageMs < pictureMs ? picture : undefined;
  }

  async function read(ownerId: string): Promise<Picture> {
    const readAtMs = clock.now().getTime();
    // The record first: a claim leaves it only when the view, which is read after it, shows the thing.
    const record = await stateStore.get(`${name}/${ownerId}`);
    const claims = record === null ? [] : recordSchema.parse(record.value).claims;
    const known = new Set(await shown(ownerId, max + 1));
    return {
      readAtMs,
      version: record?.version ?? null,
      shown: known,
      claims: claims.filter(({ id }) => !known.has(id)),
    };
  }

  /** Without the claims of things that are gone, or never came to be. */
  async function stillCounting(claims: readonly Claim[]): Promise<readonly Claim[]> {
    const nowMs = clock.now().getTime();
    const counting: Claim[] = [];
    for (const claim of claims) {
      const found = await look(claim.id);
      const isYoung = nowMs - Date.parse(claim.at) < claimMs;
      if (found === 'holds-a-place' || (found === 'absent' && isYoung)) counting.push(claim);
    }
    return counting;
  }

  /** Null when another was faster, or nobody knows: the record tells when it is read again. */
  async function write(
    key: string,
    version: string | null,
    claims: readonly Claim[],
  ): Promise<string | null> {
    const expiresAt = new Date(clock.now().getTime() + recordMs);
    try {
      return await stateStore.compareAndSet(key, version, { claims }, { expiresAt });
    } catch (error) {
      if (error instanceof OutcomeUnknown) return null;
      throw error;
    }
  }
}
