import type { Clock, Random } from '../../../src/kit/time/clock.js';
import { makeShortLog } from '../../../src/event-sourcing/feeding/read-log.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { JsonObject, LogEvent, NewEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { type AuditEvents, type AuditLog, makeAuditLog } from '../../../src/areas/audit/signing/audit-log.js';
import type { CheckpointFolder } from '../../../src/areas/audit/signing/checkpoint-folder.js';
import { entryOf } from '../../../src/areas/audit/tree/canonical-json.js';
import { type Hash, leafHash, rootOf } from '../../../src/areas/audit/tree/merkle.js';
import { makeLogResources } from '../../../src/areas/audit/history/log-resources.js';
import { makePages, type Pages } from '../../../src/areas/audit/signing/pages.js';
import { makeProjectOf } from '../../../src/areas/audit/history/project-of.js';
import { makeSequencer, type Sequencer } from '../../../src/areas/audit/signing/sequencer.js';
import { makeSigner } from '../../../src/areas/audit/signing/signer.js';
import { makeSweep, type Sweep } from '../../../src/areas/audit/signing/sweep.js';
import { makeTileStore } from '../../../src/areas/audit/tree/tile-store.js';
import { makeTreeReader, type TreeReader } from '../../../src/areas/audit/tree/tree-reader.js';
import { makeWitnesses, type PostText, type Witness } from '../../../src/areas/audit/signing/witnesses.js';
import { makeSeededRandom } from '../fakes/clock.js';
import { makeMemoryEventStore } from '../fakes/memory-event-store.js';
import { makeMemoryReadModelStore } from '../fakes/memory-read-model-store.js';
import { makeMemoryStateStore } from '../fakes/memory-state-store.js';
import { metadataOf } from '../examples/metadata.js';

/** A clock that runs faster than the real one, so that tests of long waits are short. */
export function makeFastClock(factor: number): Clock {
  const startedMs = performance.now();
  const firstMs = Date.parse('2026-01-02T03:04:05.000Z');
  return {
    now: () => new Date(firstMs + (performance.now() - startedMs) * factor),
    steadyMs: () => performance.now() * factor,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const abort = (): void => {
          clearTimeout(timer);
          reject(signal?.reason as Error);
        };
        if (signal?.aborted === true) {
          reject(signal.reason as Error);
          return;
        }
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', abort);
          resolve();
        }, ms / factor);
        signal?.addEventListener('abort', abort, { once: true });
      }),
  };
}

/** A clock of events: their times repeat, jump ahead, and are sometimes set back by five seconds. */
export function makeSetBackClock(random: Random): Clock {
  let nowMs = Date.parse('2026-01-02T03:04:05.000Z');
  return {
    ...makeFastClock(200),
    now: () => {
      const chance = random();
      nowMs += chance < 0.02 ? -5_000 : chance < 0.3 ? 0 : Math.floor(chance * 1_000);
      return new Date(nowMs);
    },
  };
}

/** The parts of the audit log of one process. */
export interface AuditProcess {
  readonly audit: AuditLog;
  readonly sequencer: Sequencer;
  readonly tree: TreeReader;
  readonly pages: Pages;
  /** Ends the process without a last write, as a kill does, if the stores refuse writes from then on. */
  stop(): Promise<void>;
}

export interface AuditProcessOptions {
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly stateStore: StateStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly seeds?: () => readonly Buffer[];
  readonly folders?: readonly CheckpointFolder[];
  readonly witnesses?: readonly Witness[];
  readonly post?: PostText;
  /** Takes the place of the sweep of the process. */
  readonly sweep?: Pick<Sweep, 'run' | 'checked'>;
  readonly events?: Partial<AuditEvents>;
  /** Whether the process sequences for all; it does when left out. */
  readonly isHere?: () => boolean;
}

export const auditSeed = Buffer.alloc(32, 16);

/** Starts the audit log of a process. */
export function startAuditProcess(options: AuditProcessOptions): AuditProcess {
  const { eventStore, readModelStore, stateStore, clock, random, folders = [], witnesses = [] } = options;
  const { seeds = () => [auditSeed], post = () => Promise.reject(new Error('no witness')), events } = options;
  const onDefect = (error: unknown): void => {
    throw error;
  };
  const tiles = makeTileStore(readModelStore);
  const sequencer = makeSequencer({
    ...{ eventStore, tiles, clock, random },
    projectOf: makeProjectOf({ eventStore, projectOfFirst: projectOfFirstEvent }),
    onRetry: () => undefined,
    onProblem: () => undefined,
  });
  const tree = makeTreeReader(tiles, () => audit.tileMissing());
  const pages = makePages({
    tiles,
    resources: makeLogResources({ eventStore, tree }),
    onMissing: () => audit.tileMissing(),
  });
  const signer = makeSigner({
    ...{ stateStore, seeds, folders, clock, pages },
    tree: makeTreeReader(tiles, sequencer.startOver),
    stored: sequencer.stored,
    shortLog: makeShortLog({ clock, waitMs: eventStore.shortLogMs }),
  });
  const sweep = makeSweep({
    ...{ pages, clock, onDefect },
    stored: sequencer.stored,
    shortLog: makeShortLog({ clock, waitMs: eventStore.shortLogMs }),
    onRetry: () => undefined,
  });
  const audit = makeAuditLog(
    {
      ...{ sequencer, signer, tiles, stateStore, clock, random },
      witnessesOf: (answered) => makeWitnesses({ witnesses, answered, tree, post, clock }),
      sweep: options.sweep ?? sweep,
    },
    {
      onRetry: () => undefined,
      onFindings: () => undefined,
      onAwaited: () => undefined,
      onDefect,
      ...events,
    },
  );
  const stopping = new AbortController();
  const running = audit.run(stopping.signal, options.isHere);
  return {
    ...{ audit, sequencer, tree, pages },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** The stores of a log in memory, with a clock that runs faster than the real one, and what happens to them. */
export function givenAuditStores(seed: number, clockFactor = 200) {
  const clock = makeFastClock(clockFactor);
  const random = makeSeededRandom(seed);
  const stores = {
    ...{ clock, random },
    eventStore: makeMemoryEventStore({ clock, random }),
    readModelStore: makeMemoryReadModelStore(),
    stateStore: makeMemoryStateStore({ clock }),
  };
  const revisions = new Map<string, bigint>();
  return {
    ...stores,
    append: (count: number) => appendAuditEvents(stores.eventStore, random, count, revisions),
    start: (more: Partial<AuditProcessOptions> = {}) => startAuditProcess({ ...stores, ...more }),
  };
}

/** The rule of the examples: the first event names the project. */
export function projectOfFirstEvent({ data }: { readonly data: JsonObject }): string | null {
  return typeof data['project_id'] === 'string' ? data['project_id'] : null;
}

/** Makes events with payloads of many shapes. */
export function makeAuditEvent(random: Random, number: number): NewEvent {
  const hex = (digits: number): string =>
    Math.floor(random() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  const id = `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
  const data: JsonObject = {
    number,
    text: ['plain', 'ünï\u2028code', '\u{1f600} pair', '"quoted"\\'][Math.floor(random() * 4)] ?? '',
    amount: Math.floor(random() * 1e9) / 100,
    ...(random() < 0.3 ? { project_id: `project-${Math.floor(random() * 5)}` } : {}),
    nested: { z: [1, null, true], a: {} },
  };
  return {
    id,
    type: ['AssetAdded', 'OrderPaid', 'UserRegistered'][Math.floor(random() * 3)] ?? 'AssetAdded',
    data,
    metadata: metadataOf(id, `user:${Math.floor(random() * 20)}`),
  };
}

/** Appends events to some streams, in appends of one to five events. */
export async function appendAuditEvents(
  eventStore: EventStore,
  random: Random,
  count: number,
  revisions = new Map<string, bigint>(),
): Promise<void> {
  for (let number = 0; number < count;) {
    const stream = `asset-${Math.floor(random() * 40)}`;
    const length = Math.min(count - number, 1 + Math.floor(random() * 5));
    const events = Array.from({ length }, (_, place) => makeAuditEvent(random, number + place));
    const appended = await eventStore.append(stream, revisions.get(stream) ?? 'no-stream', events);
    if (appended !== null) revisions.set(stream, appended.revision);
    number += length;
  }
}

/** Reads all events of the log. */
export async function readWholeLog(eventStore: EventStore): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for (let after: string | null = null; ;) {
    const page = await eventStore.readAll({ after, limit: 500 });
    events.push(...page.events);
    if (page.cursor === after || page.atHead) return events;
    after = page.cursor;
  }
}

/** Returns the root over the events, computed from the definition of RFC 9162 alone. */
export function rootOfEvents(events: readonly LogEvent[]): Hash {
  return rootOf(events.map((event) => leafHash(entryOf(event))));
}
