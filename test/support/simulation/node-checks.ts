import type { ExecutionContext } from 'ava';
import { nodeAggregate } from '../../../src/areas/nodes/domain/node/node.js';
import {
  type NodeCheck,
  nodeCheck,
  nodeCheckPrefix,
  afterResult,
  afterSilence,
} from '../../../src/areas/nodes/domain/node/fold.js';
import { makeNodeCheckReader } from '../../../projections/nodes/peer-nodes/checks.js';
import { makeReportNodeCheck } from '../../../src/areas/nodes/commands/checks.js';
import type { CommandHandler } from '../../../src/event-sourcing/deciding/command-handler.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { nodeId } from '../examples/ids.js';
import { description } from '../examples/node.js';
import { makeSeededRandom } from '../fakes/clock.js';
import { givenContext, givenStores, type GivenStores } from '../given/given-stores.js';
import type { NodeHealth } from '../../../src/areas/nodes/domain/node/events.js';

class Killed extends Error {}

/** Processes at once, and checks that each of them has under way. */
const [processes, atOnce] = [4, 8];

/**
 * Reports checks from four processes over the same stores. Each call of a store takes a random number of turns of the
 * event loop, so that the calls interleave. Killed checks end between counter and event, so one more check of each node then
 * repairs its stream.
 * @param options.killed the share of checks that are killed
 * @returns the number of events of the nodes, of which registrations are left out
 */
export async function runNodeChecks(
  t: ExecutionContext,
  { checks, nodes, seed, killed }: Readonly<Record<'checks' | 'nodes' | 'seed' | 'killed', number>>,
): Promise<number> {
  const random = makeSeededRandom(seed);
  const later = async (): Promise<void> => {
    for (let turns = Math.floor(random() * 4); turns > 0; turns -= 1) await new Promise(setImmediate);
  };
  /** Each record as it was written, by node. */
  const written = new Map<string, NodeCheck[]>();
  const stores = await givenStores({
    wrap: (store): EventStore => ({
      ...store,
      append: async (...given) => {
        await later();
        const appended = await store.append(...given);
        await later();
        return appended;
      },
    }),
    wrapState: (store): StateStore => ({
      ...store,
      get: async (key) => {
        await later();
        return store.get(key);
      },
      compareAndSet: async (key, expected, value, options) => {
        await later();
        const version = await store.compareAndSet(key, expected, value, options);
        if (version !== null && key.startsWith(nodeCheckPrefix)) {
          const id = key.slice(nodeCheckPrefix.length);
          written.set(id, [...(written.get(id) ?? []), nodeCheck.parse(value)]);
        }
        await later();
        return version;
      },
    }),
  });
  const ids = Array.from({ length: nodes }, (_, n) => nodeId.slice(0, -3) + String(n).padStart(3, '0'));
  for (const [n, id] of ids.entries()) {
    const target = { aggregate: nodeAggregate, id };
    await stores.handler.handle(
      target,
      { type: 'Register', description },
      givenContext(n, stores.clock.now()),
    );
  }

  const reported = new Map<string, { ok: number; failed: number }>();
  let [next, kills] = [0, 0];
  const report = async (commands: ReturnType<typeof processOf>, id: string, ok: boolean): Promise<void> => {
    const counts = reported.get(id) ?? { ok: 0, failed: 0 };
    reported.set(id, { ok: counts.ok + (ok ? 1 : 0), failed: counts.failed + (ok ? 0 : 1) });
    const context = givenContext(100_000 + (next += 1), stores.clock.now(), 'agent');
    await commands({ nodeId: id, ok }, context).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
      kills += 1;
    });
  };
  let left = checks - nodes;
  const worker = async (commands: ReturnType<typeof processOf>): Promise<void> => {
    while (left > 0) {
      left -= 1;
      stores.clock.advance(Math.floor((random() - 0.45) * 1_000));
      await report(commands, ids[Math.floor(random() * nodes)] ?? '', random() < 0.6);
    }
  };
  await Promise.all(
    Array.from({ length: processes }, () => {
      const commands = processOf(stores.anotherProcess(), () => random() < killed);
      return Promise.all(Array.from({ length: atOnce }, () => worker(commands)));
    }),
  );
  const last = processOf(stores.anotherProcess(), () => false);
  if (killed > 0) for (const id of ids) await report(last, id, random() < 0.6);

  let events = 0;
  for (const id of ids) {
    const inOrder = (written.get(id) ?? []).toSorted((one, other) => one.sequence - other.sequence);
    const happenings = inOrder.map(({ failures }) => (failures > 0 ? 'failure' : 'success'));
    const counts = reported.get(id) ?? { ok: 0, failed: 0 };
    t.is(happenings.filter((one) => one === 'success').length, counts.ok, `successes of ${id}`);
    t.is(happenings.filter((one) => one === 'failure').length, counts.failed, `failures of ${id}`);
    const { status, failures, successes } = inOrder.at(-1) ?? {};
    t.deepEqual({ status, failures, successes }, expectedAfter(happenings), `record of ${id}, seed ${seed}`);
    const { state, revision } = await stores.anotherProcess().handler.load(nodeAggregate, id);
    t.like(state, { health: status }, `stream of ${id}, seed ${seed}`);
    events += Number(revision ?? 0n);
  }
  t.is(kills > 0, killed > 0, `${kills} checks were killed`);
  return events;
}

/** A kill ends a check between its counter and its event: the check has counted, and its process appends nothing. */
function processOf({ handler, clock, stateStore }: GivenStores, isKilled: () => boolean) {
  const killing: CommandHandler = {
    load: (...given) => handler.load(...given),
    handle: (...given) => (isKilled() ? Promise.reject(new Killed('killed')) : handler.handle(...given)),
  };
  const nodeChecks = makeNodeCheckReader({ stateStore, clock });
  return makeReportNodeCheck({ handler: killing, stateStore, nodeChecks });
}

type Happening = 'success' | 'failure' | 'silence';

/** The rule as a table: the status after a success or a failure that is the nth of its kind in a row, up to the third. */
const table: Readonly<Record<NodeHealth, Readonly<Record<'success' | 'failure', readonly NodeHealth[]>>>> = {
  unknown: { success: ['unknown', 'healthy', 'healthy'], failure: ['unknown', 'unknown', 'unhealthy'] },
  healthy: { success: ['healthy', 'healthy', 'healthy'], failure: ['degraded', 'degraded', 'unhealthy'] },
  degraded: { success: ['degraded', 'healthy', 'healthy'], failure: ['degraded', 'degraded', 'unhealthy'] },
  unhealthy: {
    success: ['unhealthy', 'healthy', 'healthy'],
    failure: ['unhealthy', 'unhealthy', 'unhealthy'],
  },
};

/** Returns status and counters after some happenings, by the table. Nothing here is shared with the service. */
function expectedAfter(happenings: readonly Happening[]) {
  let status: NodeHealth = 'unknown';
  let last: Happening = 'silence';
  let inRow = 0;
  for (const happening of happenings) {
    if (happening === 'silence') {
      status = 'unknown';
      continue;
    }
    inRow = happening === last ? inRow + 1 : 1;
    last = happening;
    status = table[status][happening][Math.min(inRow, 3) - 1] ?? 'unknown';
  }
  const counters = last === 'success' ? { failures: 0, successes: inRow } : { failures: inRow, successes: 0 };
  return { status, ...counters };
}

/** Folds random sequences with clocks that jump, and compares each with the table. */
export function compareWithTable(t: ExecutionContext, sequences: number, seed: number): void {
  const random = makeSeededRandom(seed);
  for (let n = 0; n < sequences; n += 1) {
    const { happenings, check, rises } = foldOne(random);
    const { status, failures, successes } = check;
    const expected = expectedAfter(happenings);
    const isRight =
      status === expected.status && failures === expected.failures && successes === expected.successes;
    if (isRight && rises) continue;
    const found = { status, failures, successes, rises };
    t.deepEqual(found, { ...expected, rises: true }, `seed ${seed}: ${happenings.join(' ')}`);
  }
  t.pass();
}

const known = { health: 'unknown', sequence: 0 } as const;

/** Folds a random sequence of at most 12 happenings. `rises`: each sequence was above the one before. */
function foldOne(random: () => number) {
  let nowMs = 1_800_000_000_000;
  const failing = random();
  const happen = (before: NodeCheck | null): { happening: Happening; check: NodeCheck } => {
    nowMs += Math.floor((random() - 0.4) * 7_200_000);
    const time = new Date(nowMs);
    if (before !== null && random() < 0.1) {
      return { happening: 'silence', check: afterSilence(before, known, time) };
    }
    const ok = random() >= failing;
    return { happening: ok ? 'success' : 'failure', check: afterResult(before, known, { ok, time }) };
  };
  const first = happen(null);
  const happenings = [first.happening];
  let { check } = first;
  let rises = true;
  for (let left = Math.floor(random() * 12); left > 0; left -= 1) {
    const next = happen(check);
    rises &&= next.check.sequence > check.sequence;
    happenings.push(next.happening);
    check = next.check;
  }
  return { happenings, check, rises };
}
