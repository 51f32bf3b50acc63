import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { systemClock, systemRandom } from '../../src/composition/system.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import { openEmbeddedStores } from '../../src/stores/embedded/open-embedded-stores.js';
import { makeEvent } from './events.js';
import { compare, type Comparison } from './measure.js';

const inFlight = 64;
const durationMs = 2_000;

/** Compares durable appends through the port with bare libsql and the same group commit: 64 rows a transaction. */
export async function benchAppends(): Promise<readonly Comparison[]> {
  const directory = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
  const fail = (error: Error): void => {
    throw error;
  };
  const stores = await openEmbeddedStores({
    directory,
    streamPrefix: 'stowage.',
    clock: systemClock,
    random: systemRandom,
    onFatal: fail,
  });
  try {
    const subject = { unit: 'appends/s', anchor: 'bare libsql' };
    return [
      await compare(
        { ...subject, what: `durable appends, ${inFlight} in flight`, goal: { atLeast: 0.6 } },
        5,
        {
          ours: () => appendThroughPort(stores.eventStore, inFlight),
          anchor: () => Promise.resolve(appendBare(join(directory, 'bare.db'), inFlight)),
        },
      ),
      await compare({ ...subject, what: 'durable appends, one at a time', goal: null }, 3, {
        ours: () => appendThroughPort(stores.eventStore, 1),
        anchor: () => Promise.resolve(appendBare(join(directory, 'bare.db'), 1)),
      }),
    ];
  } finally {
    await stores.close();
    rmSync(directory, { recursive: true });
  }
}

export const example = {
  type: 'ProjectCreated',
  data: { name: 'A film of some length', owner_id: randomUUID() },
} as const;

function appendThroughPort(eventStore: EventStore, width: number): Promise<number> {
  return appendsPerSecond(width, () =>
    eventStore.append(`project-${randomUUID()}`, 'no-stream', [makeEvent(example)]),
  );
}

/** @param width appends in flight */
export async function appendsPerSecond(width: number, append: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  let appended = 0;
  const work = async (): Promise<void> => {
    while (performance.now() - began < durationMs) {
      await append();
      appended += 1;
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return (appended * 1000) / (performance.now() - began);
}

/** Appends the same rows with the same unique keys in one thread, without a port. */
function appendBare(path: string, width: number): number {
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec(`CREATE TABLE IF NOT EXISTS events (
    position INTEGER PRIMARY KEY, stream TEXT NOT NULL, revision INTEGER NOT NULL, id TEXT NOT NULL,
    type TEXT NOT NULL, data TEXT NOT NULL, metadata TEXT NOT NULL, UNIQUE (stream, revision))`);
  const insert = database.prepare(
    'INSERT INTO events (stream, revision, id, type, data, metadata) VALUES (?, 0, ?, ?, ?, ?)',
  );
  const began = performance.now();
  let appended = 0;
  while (performance.now() - began < durationMs) {
    database.exec('BEGIN IMMEDIATE');
    for (let row = 0; row < width; row += 1) {
      const event = makeEvent(example);
      insert.run(
        `project-${randomUUID()}`,
        event.id,
        event.type,
        JSON.stringify(event.data),
        JSON.stringify(event.metadata),
      );
    }
    database.exec('COMMIT');
    appended += width;
  }
  const perSecond = (appended * 1000) / (performance.now() - began);
  database.close();
  return perSecond;
}
