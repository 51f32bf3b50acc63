import { z } from 'zod';
import type { StoredEvent } from './domain-event.js';
import { StoreDamaged } from './errors.js';
import type { EventStore } from './event-store.js';
import type { Checkpoint, ReadModelStore } from './read-model-store.js';

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

/**
 * Loads how far a reader of the log is, and makes sure that this is the log it has read: that it has the same id, and still
 * holds the last event that the reader passed. A log that was restored from an older backup keeps its id; its reader would pass
 * over what is appended up to its checkpoint.
 * @param reader what the sentence begins with, such as "the view users@1.1"
 * @throws StoreUnavailable; StoreDamaged with a sentence that says what to do
 */
export async function loadOwnCheckpoint(
  {
    eventStore,
    readModelStore,
  }: { readonly eventStore: EventStore; readonly readModelStore: ReadModelStore },
  name: string,
  reader: string,
): Promise<{ readonly logId: string; readonly checkpoint: Checkpoint | null }> {
  const logId = await eventStore.logId();
  const checkpoint = await readModelStore.loadCheckpoint(name);
  if (checkpoint === null) return { logId, checkpoint };
  if (checkpoint.logId !== logId) {
    throw new StoreDamaged(
      `${reader} has followed the log ${checkpoint.logId}, but the configured log is ${logId}: ` +
        `configure the log it belongs to, or delete the read models and start again`,
    );
  }
  if (checkpoint.fingerprint !== undefined) await assertHeld(eventStore, checkpoint.fingerprint, reader);
  return { logId, checkpoint };
}

async function assertHeld(eventStore: EventStore, fingerprint: string, reader: string): Promise<void> {
  const [stream, revision] = storedFingerprint.parse(JSON.parse(fingerprint));
  const [event] = await eventStore.read(stream, { from: BigInt(revision), limit: 1 });
  if (event !== undefined && fingerprintOf(event) === fingerprint) return;
  throw new StoreDamaged(
    `${reader} has passed an event of the stream ${stream} at revision ${revision} that the log does not hold` +
      `${event === undefined ? '' : ' (another one is there)'}: the log was replaced by an older one. ` +
      'Restore the newest backup of the log, or stop the service, delete the read models and start again',
  );
}
