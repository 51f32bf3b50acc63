import { parseCheckpointText, parseNote } from '../../../src/areas/audit/tree/note.js';
import { auditCollection } from '../../../src/areas/audit/tree/tile-store.js';
import type { LogEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { eventually } from '../eventually.js';
import { aroundCalls } from '../fakes/around-calls.js';
import { makeSeededRandom } from '../fakes/clock.js';
import { makeMemoryEventStore } from '../fakes/memory-event-store.js';
import { makeMemoryReadModelStore } from '../fakes/memory-read-model-store.js';
import { makeMemoryStateStore } from '../fakes/memory-state-store.js';
import {
  appendAuditEvents,
  makeFastClock,
  readWholeLog,
  rootOfEvents,
  startAuditProcess,
} from './audit-scene.js';

/**
 * Runs 1, 2 or 4 processes over one log that grows. Processes are killed between any two calls to a store, reads return
 * pages of any size, and read models are deleted. Every checkpoint that was ever written must be the root of the log at
 * its size.
 */
export async function simulateAudit(seed: number) {
  const random = makeSeededRandom(seed);
  const clock = makeFastClock(500);
  const eventStore = makeMemoryEventStore({ clock, random });
  const readModelStore = makeMemoryReadModelStore();
  const stateStore = makeMemoryStateStore({ clock });
  const notes: string[] = [];
  const count = [1, 2, 4][Math.floor(random() * 3)] ?? 1;
  const revisions = new Map<string, bigint>();
  let [kills, events] = [0, 0];

  const start = () => {
    const life = { calls: Infinity };
    const guard = <Store extends object>(store: Store): Store => mortal(store, life);
    const process = startAuditProcess({
      ...{ clock, random },
      eventStore: inAnyPages(guard<EventStore>(eventStore), random),
      readModelStore: guard<ReadModelStore>(readModelStore),
      stateStore: guard(recording(stateStore, notes)),
    });
    return {
      process,
      /** From now on every call of the process fails, as if it were dead: a write may have applied before. */
      kill: () => {
        life.calls = Math.floor(random() * 6);
      },
    };
  };

  let running = Array.from({ length: count }, start);
  for (let step = 0; step < 12; step += 1) {
    const more = 1 + Math.floor(random() * 200);
    await appendAuditEvents(eventStore, random, more, revisions);
    events += more;
    await new Promise((resolve) => setTimeout(resolve, random() * 30));
    if (random() < 0.6) {
      const victim = running[Math.floor(random() * running.length)];
      victim?.kill();
      await new Promise((resolve) => setTimeout(resolve, random() * 10));
      await victim?.process.stop();
      running = [...running.filter((one) => one !== victim), start()];
      kills += 1;
    }
    if (random() < 0.15) await readModelStore.dropCollection(auditCollection);
  }
  const whole = await readWholeLog(eventStore);
  // A read asks for tiles that were deleted.
  await eventually('the whole log is signed', async () => {
    await running[0]?.process.tree.rootAt(whole.length).catch(() => undefined);
    return (await running[0]?.process.audit.readSigned())?.size === whole.length;
  });
  await eventually('the whole tree is stored', async () => {
    const root = await running[0]?.process.tree.rootAt(whole.length).catch(() => null);
    return root?.equals(rootOfEvents(whole)) === true;
  });
  await Promise.all(running.map(({ process }) => process.stop()));
  const problems = problemsOf(notes, whole);
  return { problems, kills, events, checkpoints: notes.length };
}

/** Compares every checkpoint that was ever written with the log. */
function problemsOf(notes: readonly string[], whole: readonly LogEvent[]): readonly string[] {
  const problems: string[] = [];
  let last = 0;
  for (const note of notes) {
    const checkpoint = parseCheckpointText(parseNote(note)?.text ?? '');
    if (checkpoint === null) {
      problems.push('a note is no checkpoint');
      continue;
    }
    const { size, root } = checkpoint;
    if (!rootOfEvents(whole.slice(0, size)).equals(root))
      problems.push(`the root of ${size} events is wrong`);
    if (size < last) problems.push(`a checkpoint of ${size} events follows one of ${last}`);
    last = size;
  }
  return problems;
}

/** Returns a store whose calls fail when the life of its process is over. A call may apply and then fail. */
function mortal<Store extends object>(store: Store, life: { calls: number }): Store {
  const spend = async (run: () => unknown): Promise<unknown> => {
    life.calls -= 1;
    if (life.calls < 0) throw new StoreUnavailable('the process is dead');
    const result = await run();
    if (life.calls === 0) throw new StoreUnavailable('the process died during the call');
    return result;
  };
  return aroundCalls(store, (name, run) => (name === 'subscribe' ? run() : spend(run)));
}

/** Cuts the pages of a subscription into smaller ones. */
function inAnyPages(store: EventStore, random: () => number): EventStore {
  return {
    ...copyOf(store),
    subscribe: async function* (options) {
      for await (const page of store.subscribe(options)) {
        const { events } = page;
        for (let from = 0; from < events.length;) {
          const until = Math.min(events.length, from + 1 + Math.floor(random() * 100));
          const isLast = until === events.length;
          const cursor = isLast ? page.cursor : (events[until - 1]?.position ?? null);
          yield { events: events.slice(from, until), cursor, atHead: isLast && page.atHead };
          from = until;
        }
        if (events.length === 0) yield page;
      }
    },
  };
}

function copyOf(store: EventStore): EventStore {
  const { shortLogMs } = store;
  return {
    shortLogMs,
    logId: () => store.logId(),
    read: (...args) => store.read(...args),
    append: (...args) => store.append(...args),
    readAll: (...args) => store.readAll(...args),
    head: () => store.head(),
    subscribe: (...args) => store.subscribe(...args),
    close: () => store.close(),
  };
}

/** Records every checkpoint that is written, also when its writer does not learn of it. */
function recording(store: StateStore, notes: string[]): StateStore {
  return {
    get: (...args) => store.get(...args),
    list: (...args) => store.list(...args),
    ping: () => store.ping(),
    close: () => store.close(),
    compareAndSet: async (key, expected, value, options) => {
      const version = await store.compareAndSet(key, expected, value, options);
      if (version !== null && key === 'audit/checkpoint') {
        notes.push((value as { readonly note: string }).note);
      }
      return version;
    },
  };
}
