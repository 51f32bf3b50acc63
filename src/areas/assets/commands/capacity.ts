import { makeKeyedMutex } from '../../../kit/keyed-mutex.js';
import { Overloaded } from '../../../kit/overloaded.js';
import { assetAggregate } from '../domain/asset/asset.js';
import { addingOf, announcedBy, changingOf, removingOf } from '../domain/asset/status.js';
import { rejectAsset } from '../domain/asset/rejections.js';
import {
  CommandRejected,
  DocumentTooLarge,
  EventTooLarge,
  PreconditionFailed,
} from '../../../event-sourcing/ports/errors.js';
import { bytesOf, type PendingEntry, type Total } from '../../../event-sourcing/views/total.js';
import type { AssetDeps } from '../deps.js';

/** An asset and what it uses of its project's capacity, in bytes. */
export interface MeasuredAsset {
  readonly projectId: string;
  readonly assetId: string;
  readonly bytes: number;
}

/**
 * Keeps the assets of a payer within the payer's capacity, also when commands race: src/areas/assets/README.md#capacity. A command
 * announces what it adds or removes in the project's total before it appends.
 */
export interface Capacity {
  /**
   * Announces an asset and appends it. A repetition of an earlier addition announces nothing, and is not judged.
   * @throws CommandRejected capacity_exceeded, when nothing stays announced; the errors of `append`; Overloaded,
   * StoreUnavailable
   */
  adding<Result>(
    asset: MeasuredAsset & { readonly payerId: string },
    append: () => Promise<Result>,
  ): Promise<Result>;
  /**
   * Announces a change of what an asset uses, and appends it. The change of a repeated command counts once.
   * @throws CommandRejected capacity_exceeded; the errors of `append`; Overloaded, StoreUnavailable
   */
  changing<Result>(
    asset: MeasuredAsset & { readonly payerId: string; readonly commandId: string },
    append: () => Promise<Result>,
  ): Promise<Result>;
  /** Announces a removal and appends it, so that the caller reads it at once. @throws the errors of `append` */
  removing<Result>(asset: MeasuredAsset, append: () => Promise<Result>): Promise<Result>;
}

/** The life of a command: 32 s for a load and an append (src/event-sourcing/deciding/README.md#command-queue-and-retries), 28 s for clock skew. */
const announcedMs = 60_000;
/** Commands of one payer that may wait in this process. */
const waitingMax = 1_000;
/** Attempts of a command that only announcements of other processes keep from fitting. */
const tries = 5;
/** Announcements of one payer that a command looks up in the log. */
const lookUpsMax = 20;

export function makeCapacity({
  handler,
  usage,
  clock,
  randomBytes,
  onFailure,
}: Pick<AssetDeps, 'handler' | 'usage' | 'clock' | 'randomBytes' | 'onFailure'>): Capacity {
  const queued = makeKeyedMutex({ waitingMax });

  return {
    adding: async ({ payerId, ...asset }, append) => {
      const entry = entryOf(addingOf(asset.assetId), asset.bytes, { counts: true });
      // Within a process, payers take turns: two commands do not refuse each other the last bytes.
      const taken = await queued(payerId, () => take(payerId, asset, entry, isAdded));
      return taken === 'added-before' ? append() : withdrawUnlessAppended(asset.projectId, entry, append);
    },
    changing: async ({ payerId, commandId, ...asset }, append) => {
      const { assetId, projectId, bytes } = asset;
      if (bytes === 0) return append();
      const id = changingOf(assetId, commandId);
      if (bytes < 0) return freeing(projectId, entryOf(id, bytes, { counts: false }), append);
      const entry = entryOf(id, bytes, { counts: true });
      const isChanged = () => isChangedBy(assetId, commandId);
      const taken = await queued(payerId, () => take(payerId, asset, entry, isChanged));
      return taken === 'added-before' ? append() : withdrawUnlessAppended(projectId, entry, append);
    },
    removing: ({ projectId, assetId, bytes }, append) =>
      freeing(projectId, entryOf(removingOf(assetId), -bytes, { counts: false }), append),
  };

  async function isChangedBy(assetId: string, commandId: string): Promise<boolean> {
    const { state } = await handler.load(assetAggregate, assetId);
    return state.status === 'existing' && state.lastCommands.includes(commandId);
  }

  async function isAdded({ assetId }: MeasuredAsset): Promise<boolean> {
    return (await handler.load(assetAggregate, assetId)).state.status !== 'absent';
  }

  async function freeing<Result>(
    projectId: string,
    entry: PendingEntry,
    append: () => Promise<Result>,
  ): Promise<Result> {
    // Before the append, for else the follower may count the event first, and nothing would take the entry out.
    const announced = await announceQuietly(projectId, (pending) => withEntry(pending, entry));
    const result = await withdrawUnlessAppended(projectId, entry, append);
    if (announced) await announceQuietly(projectId, (pending) => counting(pending, entry));
    return result;
  }

  function entryOf(id: string, bytes: number, { counts }: Pick<PendingEntry, 'counts'>): PendingEntry {
    const until = new Date(clock.now().getTime() + announcedMs).toISOString();
    return { id, by: randomBytes(9).toString('base64url'), bytes, counts, until };
  }

  /** Announces before it reads: of two commands that race, at least the later one sees the other. */
  async function take(
    payerId: string,
    asset: MeasuredAsset,
    entry: PendingEntry,
    isAppended: (asset: MeasuredAsset) => Promise<boolean>,
  ): Promise<'taken' | 'added-before'> {
    const { projectId } = asset;
    for (let attempt = 1; ; attempt += 1) {
      await announceWithRoom(projectId, entry);
      // After the announcement: of an event that is in the log before it, the follower may have removed all entries.
      if (await isAppended(asset)) {
        await announceQuietly(projectId, (pending) => without(pending, [entry]));
        return 'added-before';
      }
      const verdict = await judge(payerId, projectId, entry);
      if (verdict === 'fits') return 'taken';
      await usage.announce(projectId, (pending) => without(pending, [entry]));
      if (verdict === 'full' || attempt === tries) {
        rejectAsset(
          'capacity_exceeded',
          "the project's payer has no capacity left for this size; remove assets, or add capacity",
        );
      }
    }
  }

  /** A project may be full of the announcements of commands that have ended, for example while the log was away. */
  async function announceWithRoom(projectId: string, entry: PendingEntry): Promise<void> {
    const announce = () => usage.announce(projectId, (pending) => withEntry(pending, entry));
    try {
      await announce();
    } catch (error) {
      if (!(error instanceof Overloaded)) throw error;
      const dead = await removeDead(await usage.totalsOf([projectId]));
      if (dead.size === 0) throw error;
      await announce();
    }
  }

  async function judge(
    payerId: string,
    projectId: string,
    entry: PendingEntry,
  ): Promise<'fits' | 'raced' | 'full'> {
    const { capacity, totals } = await usage.accountOf(payerId, projectId);
    const own = totals.has(projectId) ? [] : [{ bytes: '0', position: null, pending: [entry] }];
    const all = [...totals.values(), ...own];
    const isWithin = (isAlive: (one: PendingEntry) => boolean): boolean =>
      all.reduce((sum, total) => sum + bytesOf(total, isAlive), 0n) <= BigInt(capacity);
    if (isWithin(() => true)) return 'fits';
    const dead = await removeDead(totals);
    if (isWithin((one) => !dead.has(keyOf(one)))) return 'fits';
    return isWithin(({ id, bytes }) => id === entry.id || bytes < 0) ? 'raced' : 'full';
  }

  /** Removes the entries of commands that have ended without an event. Returns their keys. */
  async function removeDead(totals: ReadonlyMap<string, Total>): Promise<ReadonlySet<string>> {
    const nowMs = clock.now().getTime();
    const dead = new Set<string>();
    let lookUps = 0;
    for (const [projectId, { pending }] of totals) {
      const gone: PendingEntry[] = [];
      for (const entry of pending) {
        if (Date.parse(entry.until) > nowMs || lookUps === lookUpsMax) continue;
        lookUps += 1;
        if (await isWithoutEvent(entry)) gone.push(entry);
      }
      if (gone.length === 0) continue;
      await usage.announce(projectId, (current) => without(current, gone));
      for (const entry of gone) dead.add(keyOf(entry));
    }
    return dead;
  }

  async function isWithoutEvent(entry: PendingEntry): Promise<boolean> {
    const announced = announcedBy(entry.id);
    const { state } = await handler.load(assetAggregate, announced.assetId);
    if ('before' in announced) return state.status === announced.before;
    // A removed asset does not tell: the entry counts until the follower counts the removal.
    return state.status === 'existing' && !state.lastCommands.includes(announced.commandId);
  }

  /** Where the append may have happened, the entry stays: the follower, or a later command, removes it. */
  async function withdrawUnlessAppended<Result>(
    projectId: string,
    entry: PendingEntry,
    append: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await append();
    } catch (error) {
      if (wroteNothing(error)) await announceQuietly(projectId, (pending) => without(pending, [entry]));
      throw error;
    }
  }

  /** Returns whether the change was made. The follower counts the event in any case. */
  async function announceQuietly(
    projectId: string,
    change: Parameters<typeof usage.announce>[1],
  ): Promise<boolean> {
    try {
      await usage.announce(projectId, change);
      return true;
    } catch (error) {
      onFailure('the total of a project was not changed; the follower does so', error);
      return false;
    }
  }
}

function wroteNothing(error: unknown): boolean {
  return [CommandRejected, PreconditionFailed, EventTooLarge, DocumentTooLarge, Overloaded].some(
    (kind) => error instanceof kind,
  );
}

function withEntry(pending: readonly PendingEntry[], entry: PendingEntry): readonly PendingEntry[] {
  return [...(without(pending, [entry]) ?? pending), entry];
}

function without(
  pending: readonly PendingEntry[],
  entries: readonly PendingEntry[],
): readonly PendingEntry[] | null {
  const keys = new Set(entries.map(keyOf));
  const left = pending.filter((one) => !keys.has(keyOf(one)));
  return left.length === pending.length ? null : left;
}

/** Makes the entry count. Null where the follower has counted its event and removed it. */
function counting(pending: readonly PendingEntry[], entry: PendingEntry): readonly PendingEntry[] | null {
  if (!pending.some((one) => keyOf(one) === keyOf(entry))) return null;
  return pending.map((one) => (keyOf(one) === keyOf(entry) ? { ...one, counts: true } : one));
}

/** Another attempt may announce the same event. An attempt changes only the entry that it made. */
function keyOf({ id, by }: PendingEntry): string {
  return `${id}/${by}`;
}
