/*
 * Runs the adapter's guarded writes against a model of a server whose network loses requests, loses answers and
 * delivers requests late. Each schedule follows from its seed. test/servers runs them over the real protocol.
 */
import test, { type ExecutionContext } from 'ava';
import { OutcomeUnknown } from '../../../src/event-sourcing/ports/errors.js';
import { makeAttempts } from '../../../src/stores/mongodb/calls/attempts.js';
import { makeCalls } from '../../../src/stores/mongodb/calls/calls.js';
import { defaultMongoDbLimits } from '../../../src/stores/mongodb/calls/limits.js';
import { makeMongoDbReadModelStore } from '../../../src/stores/mongodb/documents/read-model-store.js';
import { makeMongoDbStateStore } from '../../../src/stores/mongodb/state-store.js';
import { makeSeededRandom } from '../../support/fakes/clock.js';
import { incrementalFold, wholeFold } from '../../support/clients/document-writes.js';
import { settableClock } from '../../support/fakes/settable-clock.js';
import { makeSimulatedMongoDb, type SimulatedMongoDb } from '../../support/fakes/simulated-mongodb.js';
import {
  type Checkpoint,
  loadCheckpoint,
  makeSaveCheckpoint,
} from '../../../src/event-sourcing/ports/records.js';
import { orUnavailable } from '../../support/clients/store-calls.js';

const seeds = Array.from({ length: 200 }, (_, n) => n + 1);

test('A compare-and-set is in force exactly when it reports so, with requests lost or late', async (t) => {
  const seen = { applied: 0, refused: 0, unknown: 0 };
  for (const seed of seeds) {
    const world = makeWorld(seed);
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, async (_, writer) => changeRecords(world, `${seed}/${writer}`)),
    );
    world.server.calm();
    assertHistory(t, seed, world.server, outcomes.flat());
    for (const { outcome } of outcomes.flat()) seen[outcome] += 1;
  }
  t.true(seen.applied > 500 && seen.refused > 500 && seen.unknown > 5, JSON.stringify(seen));
});

test('Documents end at the largest revision, and a write that reports `applied` was applied', async (t) => {
  for (const seed of seeds) {
    const { readModelStore, server, random } = makeWorld(seed);
    const ids = ['a', 'b', 'c'];
    const written = new Map(ids.map((id) => [id, -1]));
    await Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        for (let step = 0; step < 4; step += 1) {
          const writes = ids
            .filter(() => random() < 0.7)
            .map((id) => {
              const revision = BigInt(Math.floor(random() * 12));
              const body = { writer, step };
              const from = random() < 0.5 || revision === 0n ? 'whole-stream' : revision - 1n;
              return from === 'whole-stream'
                ? wholeFold(id, revision, body)
                : incrementalFold(id, from, revision, body);
            });
          const outcomes = await orUnavailable(readModelStore.write('v', writes));
          for (const [n, { document, foldedFrom }] of writes.entries()) {
            const known =
              outcomes !== 'unavailable' && (foldedFrom === 'whole-stream' || outcomes[n] === 'applied');
            if (known)
              written.set(document.id, Math.max(written.get(document.id) ?? -1, Number(document.revision)));
            const body = JSON.stringify(document.body);
            const effect = server.effects.some(
              ({ document: stored }) =>
                stored['_id'] === document.id &&
                stored['revision'] === document.revision &&
                JSON.stringify(stored['body']) === body,
            );
            if (outcomes !== 'unavailable') t.true(effect || outcomes[n] === 'refused', `seed ${seed}`);
          }
        }
      }),
    );
    server.calm();
    for (const stored of server.stored('view.v')) {
      const least = written.get(String(stored['_id'])) ?? -1;
      const most = Math.max(
        ...server.effects
          .filter(({ document }) => document['_id'] === stored['_id'])
          .map(({ document }) => Number(document['revision'])),
      );
      t.true(Number(stored['revision']) >= least && Number(stored['revision']) === most, `seed ${seed}`);
    }
  }
});

test('A write without competitors reports `applied`, with requests lost or late', async (t) => {
  for (const seed of seeds.slice(0, 50)) {
    const { readModelStore } = makeWorld(seed);
    for (let revision = 0n; revision < 6n; revision += 1n) {
      const outcomes = await orUnavailable(readModelStore.write('v', [wholeFold('a', revision, {})]));
      if (outcomes !== 'unavailable') t.deepEqual(outcomes, ['applied'], `seed ${seed}`);
    }
  }
});

test('A saved checkpoint never moves back, and is complete', async (t) => {
  for (const seed of seeds.slice(0, 100)) {
    const { readModelStore, server, random } = makeWorld(seed);
    let saved = '';
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let step = 0; step < 4; step += 1) {
          const position = String(Math.floor(random() * 100)).padStart(3, '0');
          const outcome = await orUnavailable(
            makeSaveCheckpoint(readModelStore, 'v')(checkpointAt(position)),
          );
          if (outcome !== 'unavailable' && position > saved) saved = position;
        }
      }),
    );
    server.calm();
    const loaded = await loadCheckpoint(readModelStore, 'v');
    t.true((loaded?.position ?? '') >= saved, `seed ${seed}`);
    if (loaded !== null) t.deepEqual(loaded, checkpointAt(loaded.position), `seed ${seed}`);
  }
});

/** Makes a checkpoint. At every other position it has no fingerprint, as before the first event of this service. */
function checkpointAt(position: string): Checkpoint {
  const at = { logId: 'log', position };
  return Number(position) % 2 === 0 ? at : { ...at, fingerprint: `["thing",${position}]` };
}

type World = ReturnType<typeof makeWorld>;

function makeWorld(seed: number) {
  const random = makeSeededRandom(seed);
  const server = makeSimulatedMongoDb({ random, faults: 0.25 });
  const clock = { ...settableClock(), sleep: async () => Promise.resolve() };
  const attempt = makeAttempts({ poolSize: 20, permitWaitMs: 1_000, silenceMs: 5_000 });
  const calls = makeCalls({ clock, random, limits: defaultMongoDbLimits, attempt });
  const close = async () => Promise.resolve();
  const parts = { calls, commands: server.commands, random, close };
  return {
    random,
    server,
    clock,
    readModelStore: makeMongoDbReadModelStore(parts),
    stateStore: makeMongoDbStateStore({ ...parts, clock }),
  };
}

interface Attempted {
  readonly value: string;
  readonly outcome: 'applied' | 'refused' | 'unknown';
  readonly version: string | null;
}

/**
 * Reads records and changes them over the version that was read, with expiry and removal, as claims and counters do.
 */
async function changeRecords(world: World, writer: string): Promise<Attempted[]> {
  const { stateStore, clock, random } = world;
  const attempts: Attempted[] = [];
  for (let step = 0; step < 6; step += 1) {
    const key = `claim/${Math.floor(random() * 2)}`;
    const record = await orUnavailable(stateStore.get(key));
    if (record === 'unavailable') continue;
    if (random() < 0.2) clock.advance(5);
    const expected = record?.version ?? null;
    if (random() < 0.15) await orUnavailable(stateStore.compareAndSet(key, expected, null));
    else attempts.push(await change(world, { key, expected, value: `${writer}/${step}` }));
  }
  return attempts;
}

async function change(
  { stateStore, clock, random }: World,
  {
    key,
    expected,
    value,
  }: { readonly key: string; readonly expected: string | null; readonly value: string },
): Promise<Attempted> {
  const options = random() < 0.3 ? { expiresAt: new Date(clock.now().getTime() + 10) } : {};
  try {
    const version = await stateStore.compareAndSet(key, expected, value, options);
    return { value, outcome: version === null ? 'refused' : 'applied', version };
  } catch (error) {
    if (error instanceof OutcomeUnknown) return { value, outcome: 'unknown', version: null };
    throw error;
  }
}

/**
 * Asserts that the versions of each record form one chain, which contains an applied write once and a refused write
 * never.
 */
function assertHistory(
  t: ExecutionContext,
  seed: number,
  server: SimulatedMongoDb,
  attempts: Attempted[],
): void {
  const ends = new Map<string, unknown>();
  for (const { document } of server.effects) {
    const id = String(document['_id']);
    t.is(document['replaced'], ends.get(id) ?? null, `seed ${seed}`);
    ends.set(id, document['version']);
  }
  for (const { value, outcome, version } of attempts) {
    const effects = server.effects.filter(({ document }) => document['value'] === JSON.stringify(value));
    if (outcome === 'applied') t.is(effects[0]?.document['version'], version, `seed ${seed}`);
    const most = outcome === 'refused' ? 0 : 1;
    const least = outcome === 'applied' ? 1 : 0;
    t.true(effects.length >= least && effects.length <= most, `seed ${seed}: ${value} was ${outcome}`);
  }
}
