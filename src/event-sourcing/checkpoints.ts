import { z } from 'zod';
import type { Clock } from './clock.js';
import type { StoredEvent } from './domain-event.js';
import { StoreDamaged, StoreUnavailable } from './errors.js';
import type { EventStore } from './event-store.js';
import type { Checkpoint, ReadModelStore } from './read-model-store.js';
import { makeShortLog, type ShortLog } from './short-log.js';

/** An event as it is recognised again: by its place in its stream, its id, and the store's time of its append. */
type Recognised = Pick<StoredEvent, 'stream' | 'revision' | 'id' | 'recordedAt'>;

const storedFingerprint = z.tuple([z.string(), z.string(), z.string(), z.string()]);

/**
 * Names an event so that another one at its place is told apart. The time is part of it: a command with an id that follows
 * from its cause writes the same event ids anew into a log that was restored from before it.
 */
export function fingerprintOf({ stream, revision, id, recordedAt }: Recognised): string {
  return JSON.stringify([stream, String(revision), id, recordedAt.toISOString()]);
}

/** How far a reader of the log is, and the id of the log. */
export type LoadOwnCheckpoint = () => Promise<{
  readonly logId: string;
  readonly checkpoint: Checkpoint | null;
}>;

/**
 * Makes what loads how far a reader of the log is, and makes sure that this is the log it has read: that it has the same id,
 * and still holds the last event that the reader passed. A log that was restored from an older backup keeps its id; its reader
 * would pass over what is appended up to its checkpoint. Another process may have moved the checkpoint, so an event
 * that is missing is waited for as long as the store says. One reader makes one, and keeps it.
 * @param name the checkpoint's
 * @param reader what the sentence begins with, such as "the view users@1.1"
 * @returns what throws StoreUnavailable; StoreDamaged with a sentence that says what to do
 */
export function makeLoadOwnCheckpoint(
  {
    eventStore,
    readModelStore,
    clock,
  }: { readonly eventStore: EventStore; readonly readModelStore: ReadModelStore; readonly clock: Clock },
  name: string,
  reader: string,
): LoadOwnCheckpoint {
  const shortLog = makeShortLog({ clock, waitMs: eventStore.shortLogMs });
  return async () => {
    const logId = await eventStore.logId();
    const checkpoint = await readModelStore.loadCheckpoint(name);
    if (checkpoint === null) return { logId, checkpoint };
    if (checkpoint.logId !== logId) {
      throw new StoreDamaged(
        `${reader} has followed the log ${checkpoint.logId}, but the configured log is ${logId}: ` +
          `configure the log it belongs to, or delete the read models and start again`,
      );
    }
    if (checkpoint.fingerprint !== undefined) {
      await assertHeld(checkpoint.fingerprint, { eventStore, shortLog, reader });
    }
    return { logId, checkpoint };
  };
}

async function assertHeld(
  fingerprint: string,
  deps: { readonly eventStore: EventStore; readonly shortLog: ShortLog; readonly reader: string },
): Promise<void> {
  const { eventStore, shortLog, reader } = deps;
  const [stream, revision] = storedFingerprint.parse(JSON.parse(fingerprint));
  const [event] = await eventStore.read(stream, { from: BigInt(revision), limit: 1 });
  if (event !== undefined && fingerprintOf(event) === fingerprint) {
    shortLog.whole();
    return;
  }
  const what = `${reader} has passed an event of the stream ${stream} at revision ${revision} that the log does not hold`;
  if (event === undefined && !shortLog.isLasting()) throw new StoreUnavailable(what);
  throw new StoreDamaged(
    `${what}${event === undefined ? '' : ' (another one is there)'}: the log was replaced by an older one. ` +
      'Restore the newest backup of the log, or stop the service, delete the read models and start again',
  );
}
