import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Database from 'libsql';
import { systemClock, systemRandom } from '../../src/composition/system.js';
import { openEmbeddedStores } from '../../src/stores/embedded/open-embedded-stores.js';
import { makeEvent } from './events.js';
import { withScratchFolder } from './install.js';
import { compare, type Comparison } from './measure.js';
import { type Amount, type Answered, measure, type Side } from './peers/sides.js';

const inFlight = 64;
const durationMs = 2_000;

/** Compares durable appends through the port with bare libsql and the same group commit: 64 rows a transaction. */
export function benchAppends(): Promise<readonly Comparison[]> {
  const subject = { unit: 'appends/s', anchor: 'bare libsql' };
  return withAppendSides(async (sidesOf) => {
    const rate = (side: Side, width: number) => async (): Promise<number> =>
      (await measure(side, { inFlight: width })).perSecond;
    const comparisons: Comparison[] = [];
    for (const [what, width, goal] of [
      [`durable appends, ${inFlight} in flight`, inFlight, { atLeast: 0.8 }],
      ['durable appends, one at a time', 1, { atLeast: 0.75 }],
    ] as const) {
      const [ours, bare] = sidesOf(width);
      comparisons.push(
        await compare({ ...subject, what, goal }, 5, { ours: rate(ours, width), anchor: rate(bare, width) }),
      );
    }
    return comparisons;
  });
}

type SidesOf = (width: number) => readonly [ours: Side, bare: Side];

/** Opens embedded stores, and runs work with the two sides: appends through the port, and the same rows in bare libsql. */
export async function withAppendSides<Result>(work: (sidesOf: SidesOf) => Promise<Result>): Promise<Result> {
  return withScratchFolder(async (directory) => {
    const stores = await openEmbeddedStores({
      directory,
      streamPrefix: 'stowage.',
      clock: systemClock,
      random: systemRandom,
      onFatal: (error) => {
        throw error;
      },
    });
    const { pid } = process;
    const append = (): Promise<unknown> =>
      stores.eventStore.append(`project-${randomUUID()}`, 'no-stream', [makeEvent(example)]);
    try {
      return await work((width) => [
        { program: 'Stowage, the port', pid, send: (how) => sendAppends(append, how) },
        {
          program: 'bare libsql',
          pid,
          // One thread has no requests in flight: a transaction has as many rows as the other side has appends.
          send: (how) => Promise.resolve(appendBare(join(directory, 'bare.db'), { ...how, inFlight: width })),
        },
      ]);
    } finally {
      await stores.close();
    }
  });
}

export const example = {
  type: 'ProjectCreated',
  data: { name: 'A film of some length', owner_id: randomUUID() },
} as const;

async function sendAppends(
  append: () => Promise<unknown>,
  { inFlight: width, amount = Infinity }: Amount,
): Promise<Answered> {
  const began = performance.now();
  const times: number[] = [];
  let started = 0;
  const worker = async (): Promise<void> => {
    while (started < amount && performance.now() - began < durationMs) {
      started += 1;
      const startedAt = performance.now();
      await append();
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return { times, tookMs: performance.now() - began };
}

/** @param width appends in flight */
export async function appendsPerSecond(width: number, append: () => Promise<unknown>): Promise<number> {
  const { times, tookMs } = await sendAppends(append, { inFlight: width });
  return (times.length * 1_000) / tookMs;
}

/** Appends the same rows with the same unique keys in one thread, without a port. */
function appendBare(path: string, { inFlight: width, amount = Infinity }: Amount): Answered {
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
  const times: number[] = [];
  while (times.length < amount && performance.now() - began < durationMs) {
    const startedAt = performance.now();
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
    const took = performance.now() - startedAt;
    for (let row = 0; row < width; row += 1) times.push(took);
  }
  const tookMs = performance.now() - began;
  database.close();
  return { times, tookMs };
}
