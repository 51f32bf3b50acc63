import { z } from 'zod';
import type { Clock } from '../../kit/time/clock.js';
import type { Position, StoredEvent } from '../ports/domain-event.js';
import { StoreDamaged, StoreUnavailable, StreamDamaged } from '../ports/errors.js';
import type { EventStore } from '../ports/event-store.js';
import type { ReadModelStore } from '../ports/read-model-store.js';
import { type Checkpoint, makeSaveCheckpoint } from '../ports/records.js';
import { type ShortLog, makeShortLog } from './read-log.js';

/** The fields that identify an event. */
type Identified = Pick<StoredEvent, 'stream' | 'revision' | 'id' | 'recordedAt'>;

const storedFingerprint = z.tuple([z.string(), z.string(), z.string(), z.string()]);

/**
 * Returns a text that identifies an event. It contains the recorded time, because a reaction's command makes the same
 * event ids again in a log that was restored from an older backup.
 */
export function fingerprintOf({ stream, revision, id, recordedAt }: Identified): string {
  return JSON.stringify([stream, String(revision), id, recordedAt.toISOString()]);
}

/** Loads the checkpoint of a log reader, and the id of the log. */
type LoadOwnCheckpoint = () => Promise<{
  readonly logId: string;
  readonly checkpoint: Checkpoint | null;
}>;

/**
 * Makes a function that loads a checkpoint and verifies the log: it has the id in the checkpoint, and still holds the
 * last event that the reader passed. A log restored from an older backup keeps its id, and the reader would skip new
 * events up to its checkpoint. A missing event is damage only after `eventStore.shortLogMs`, because another process
 * may have moved the checkpoint. A reader keeps its function, which remembers since when an event is missing.
 * @param reader subject of the error sentences, for example "the view users@1.1"
 * @returns a function that throws StoreUnavailable, or StoreDamaged with a sentence that says what to do
 */
export function makeLoadOwnCheckpoint(
  {
    eventStore,
    load,
    clock,
  }: {
    readonly eventStore: Pick<EventStore, 'shortLogMs' | 'logId' | 'read'>;
    readonly load: () => Promise<Checkpoint | null>;
    readonly clock: Clock;
  },
  reader: string,
): LoadOwnCheckpoint {
  const shortLog = makeShortLog({ clock, waitMs: eventStore.shortLogMs });
  return async () => {
    const logId = await eventStore.logId();
    const checkpoint = await load();
    if (checkpoint === null) return { logId, checkpoint };
    if (checkpoint.logId !== logId) {
      throw new StoreDamaged(
        `${reader} has followed the log ${checkpoint.logId}, but the configured log is ${logId}: ` +
          `configure the log it belongs to, or delete the read models and start again`,
      );
    }
    if (checkpoint.fingerprint !== undefined) {
      await assertInLog(checkpoint.fingerprint, { eventStore, shortLog, reader });
    }
    return { logId, checkpoint };
  };
}

async function assertInLog(
  fingerprint: string,
  deps: {
    readonly eventStore: Pick<EventStore, 'read'>;
    readonly shortLog: ShortLog;
    readonly reader: string;
  },
): Promise<void> {
  const { eventStore, shortLog, reader } = deps;
  const [stream, revision] = storedFingerprint.parse(JSON.parse(fingerprint));
  const event = await findEvent(eventStore, stream, BigInt(revision));
  // The damaged stream is quarantined, and must not stop the views of all others.
  if (event === 'damaged') return;
  if (event !== undefined && fingerprintOf(event) === fingerprint) {
    shortLog.whole();
    return;
  }
  const fault = `${reader} has passed an event of the stream ${stream} at revision ${revision} that the log does not hold`;
  if (event === undefined && !shortLog.isLasting()) throw new StoreUnavailable(fault);
  throw new StoreDamaged(
    `${fault}${event === undefined ? '' : ' (another one is there)'}: the log was replaced by an older one. ` +
      'Restore the newest backup of the log, or stop the service, delete the read models and start again',
  );
}

/** Returns the event at a revision; undefined when the stream ends before it. */
async function findEvent(
  eventStore: Pick<EventStore, 'read'>,
  stream: string,
  from: bigint,
): Promise<StoredEvent | undefined | 'damaged'> {
  try {
    const [event] = await eventStore.read(stream, { from, limit: 1 });
    // A stream that lost all of its events looks as if it ended before `from`. Only a read from its start shows the damage.
    if (event === undefined) await eventStore.read(stream, { from: 0n, limit: 1 });
    return event;
  } catch (error) {
    if (error instanceof StreamDamaged) return 'damaged';
    throw error;
  }
}

/** Up to where a consumer has processed the log, and the last event of this service up to there; null before the first. */
interface Processed {
  readonly position: Position | null;
  readonly lastEvent: Identified | null;
}

const changedMs = 1_000;
const unchangedMs = 10_000;

/** Makes what saves the checkpoint of one consumer. @param reader the name of the checkpoint in the read-model store */
export function makeCheckpointSaver(
  deps: {
    readonly eventStore: Pick<EventStore, 'logId'>;
    readonly readModelStore: Pick<ReadModelStore, 'get' | 'write'>;
    readonly clock: Clock;
  },
  reader: string,
) {
  const write = makeSaveCheckpoint(deps.readModelStore, reader);
  const nowMs = (): number => deps.clock.steadyMs();
  let [savedAtMs, isChanged] = [nowMs(), false];
  let stored: Partial<Checkpoint> = {};

  return {
    /** Begins at the stored checkpoint. */
    begin: (checkpoint: Checkpoint | null): void => {
      stored = checkpoint ?? {};
    },
    /** Notes that more has changed than the position. */
    changed: (): void => {
      isChanged = true;
    },
    /**
     * Saves each second while the consumer changes or catches up, and else every 10 s.
     * @returns whether all is saved @throws StoreUnavailable
     */
    saveIfDue: async (processed: Processed, { atHead }: { readonly atHead: boolean }): Promise<boolean> => {
      if (nowMs() - savedAtMs >= (atHead && !isChanged ? unchangedMs : changedMs)) await save(processed);
      return processed.position === null || processed.position === stored.position;
    },
    save,
  };

  /** Saves now. @param isAgain also an unmoved position: the read models may have been deleted @throws StoreUnavailable */
  async function save({ position, lastEvent }: Processed, isAgain = false): Promise<void> {
    if (position === null || (position === stored.position && !isAgain)) return;
    const fingerprint = lastEvent === null ? stored.fingerprint : fingerprintOf(lastEvent);
    const before = isChanged;
    [savedAtMs, isChanged] = [nowMs(), false];
    try {
      const logId = await deps.eventStore.logId();
      await write({ logId, position, ...(fingerprint === undefined ? {} : { fingerprint }) }, isAgain);
      stored = { ...stored, position };
    } catch (error) {
      isChanged ||= before;
      throw error;
    }
  }
}

/**
 * Saves each second after a change, until a save returns that nothing is left. So a consumer that rests costs nothing.
 * @param options.onFailed is called with the failure of a save, before `done` rejects
 */
export function saveWhileChanged(
  clock: Pick<Clock, 'sleep'>,
  save: () => Promise<boolean>,
  { signal, onFailed }: { readonly signal: AbortSignal; readonly onFailed: (error: unknown) => void },
) {
  let change = (): void => undefined;
  let isChanged = false;
  const end = (): void => change();
  signal.addEventListener('abort', end, { once: true });
  const done = run().catch((error: unknown) => {
    onFailed(error);
    throw error;
  });
  // The caller awaits it later. Until then this handler prevents an unhandled rejection.
  done.catch(() => undefined);
  return {
    /** Notes that something is to be saved. */
    changed: (): void => {
      isChanged = true;
      change();
    },
    /** Resolves after the signal aborts. Rejects with the failure of a save; no further one follows. */
    done,
  };

  async function run(): Promise<void> {
    while (!isEnding()) {
      if (!isChanged) {
        await new Promise<void>((resolve) => {
          change = resolve;
        });
      }
      // An abort ends the loop.
      await clock.sleep(changedMs, signal).catch(() => undefined);
      if (isEnding()) return;
      isChanged = false;
      if (!(await save())) isChanged = true;
    }
  }

  function isEnding(): boolean {
    return signal.aborted;
  }
}
