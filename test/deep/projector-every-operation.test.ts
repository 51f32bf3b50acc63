import test from 'ava';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../src/event-sourcing/ports/read-model-store.js';
import { requestRebuild } from '../../src/event-sourcing/views/generations/rebuild.js';
import {
  type CounterCommand,
  counterLabelsProjection,
  countersProjection,
} from '../support/kernel/counters.js';
import { foldOfLog, storedDocuments, sendToCounter, givenWorld } from '../support/kernel/world.js';
import { type Fault, failNth, noFaults } from '../support/kernel/faulty-stores.js';
import {
  type SimulatedProcess,
  startSimulatedProcess,
  watchReadModels,
} from '../support/kernel/processes.js';
import type { VirtualClock } from '../support/kernel/virtual-clock.js';
import { getRecord } from '../../src/event-sourcing/ports/records.js';

const projections = [countersProjection, counterLabelsProjection];
const open: CounterCommand = { type: 'Open', label: 'a' };
const add = (n: number): CounterCommand => ({ type: 'Add', operation: `o${n}`, amounts: [n, n] });

const script: readonly (readonly [string, CounterCommand])[] = [
  ['c1', open],
  ['c2', open],
  ['c1', add(1)],
  ['c2', add(2)],
  ['c2', { type: 'Close' }],
  ['c1', add(3)],
];

/**
 * Runs two processes. One of them handles commands before and during a rebuild while the n-th of its operations on
 * either store fails.
 */
async function run(n: number, fault: Fault, repeated: 'registry' | 'others') {
  const memory = givenWorld(n);
  const { clock, eventStore } = memory;
  const problems: string[] = [];
  const { store: readModelStore } = watchReadModels(
    memory.readModelStore,
    { log: eventStore, projections },
    (error) => problems.push(error.message),
  );
  const plan = failNth(
    n,
    fault,
    (operation) => (operation === 'getMany of records') === (repeated === 'registry'),
  );
  const deps = { ...memory, readModelStore, pageSize: 3 };
  const faulty = startSimulatedProcess({ ...deps, id: 'faulty', plan });
  const sound = startSimulatedProcess({ ...deps, id: 'sound', plan: noFaults });
  await clock.until(() => faulty.running() !== null && sound.running() !== null);
  const world = { clock, eventStore, readModelStore, faulty };
  const acknowledged = await sendCommands(world);
  await clock.advance(90_000);
  problems.push(...(await findProblems(world, acknowledged)));
  for (const process of [faulty, sound]) {
    problems.push(...(process.running()?.reports.filter((report) => report.startsWith('stopped')) ?? []));
    await clock.run(process.stop());
  }
  // Late operations have taken effect by now.
  await clock.advance(1_000);
  if (clock.sleepers > 0) problems.push('something still waits after the stop');
  return { calls: plan.calls(), problems };
}

interface Scene {
  readonly clock: VirtualClock;
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly faulty: SimulatedProcess;
}

/** Sends the script, and a similar one during a rebuild. @returns the last acknowledged revision of each counter */
async function sendCommands({ clock, faulty }: Scene): Promise<ReadonlyMap<string, bigint>> {
  const acknowledged = new Map<string, bigint>();
  for (const [step, [id, command]] of [...script, ...script].entries()) {
    const process = faulty.running();
    if (process === null) throw new Error('the process runs');
    if (step === script.length) {
      await clock.run(requestRebuild(process.generations, countersProjection, clock.now()).catch(() => null));
    }
    const sent = step < script.length || command.type !== 'Add' ? command : add(step);
    const handled = await clock.run(sendToCounter(process.handler, id, sent, step).catch(() => null));
    if (handled?.revision != null) acknowledged.set(id, handled.revision);
    await clock.advance(400);
  }
  return acknowledged;
}

async function findProblems(
  { eventStore, readModelStore }: Scene,
  acknowledged: ReadonlyMap<string, bigint>,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const projection of projections) {
    const record = (await getRecord(readModelStore, `generations/${projection.name}@1`))?.value;
    const { live } = record as { live: number };
    const stored = await storedDocuments(readModelStore, `${projection.name}@1.${live}`);
    const fold = await foldOfLog(eventStore, projection);
    if (JSON.stringify(stored, asText) !== JSON.stringify(fold, asText)) {
      problems.push(`${projection.name} differs`);
    }
  }
  for (const [id, revision] of acknowledged) {
    const found = await eventStore.read(`counter-${id}`, { from: revision });
    if (found.length === 0) problems.push(`${id} lost events`);
  }
  return problems;
}

function asText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

for (const fault of ['before', 'after', 'late', 'hang'] as const) {
  test(`The views end as the fold of the log after a failure of any operation: ${fault}`, async (t) => {
    t.timeout(10 * 60_000);
    const { calls } = await run(Infinity, fault, 'others');
    t.true(calls > 60);
    for (let n = 1; n <= calls; n += 1) {
      const { problems } = await run(n, fault, 'others');
      t.deepEqual(problems, [], `operation ${n}`);
    }
    // The registry is read each second. The readings around the start and the rebuild stand for all.
    for (let n = 1; n <= 30; n += 1) {
      const { problems } = await run(n, fault, 'registry');
      t.deepEqual(problems, [], `reading ${n} of the registry`);
    }
  });
}
