import { pagesOf } from '../../../src/event-sourcing/ports/state-store.js';
import {
  type NodeCheck,
  nodeCheck,
  nodeCheckKey,
  nodeCheckPrefix,
} from '../../../src/areas/nodes/domain/node/fold.js';
import type { SteadyClock } from '../../../src/kit/time/clock.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';

/** The counters of all nodes. */
interface NodeChecks {
  readonly byNode: ReadonlyMap<string, NodeCheck>;
  /** Rises with each read and each change. */
  readonly version: number;
}

/** Reads the counters of checks (src/areas/nodes/README.md#node-checks). @throws StoreUnavailable */
export type NodeCheckReader = ReturnType<typeof makeNodeCheckReader>;

const pageSize = 1_000;
const maxAgeMs = 1_000;

interface Reading {
  readonly startedMs: number;
  /** What this process has counted since the start. The read may have missed it. */
  readonly noted: Map<string, NodeCheck>;
  done: Promise<void>;
  isOver: boolean;
}

export function makeNodeCheckReader(deps: {
  readonly stateStore: Pick<StateStore, 'get' | 'list'>;
  readonly clock: SteadyClock;
}) {
  const { stateStore, clock } = deps;
  let byNode = new Map<string, NodeCheck>();
  let version = 0;
  let reading: Reading | null = null;
  return {
    /** Returns the counters of all nodes, at most 1 s old, or as old as a read that takes longer. */
    all: async (): Promise<NodeChecks> => {
      const nowMs = clock.steadyMs();
      // A slow read is waited for: under steady traffic a read that took longer than its age would always have a successor.
      if (reading === null || (reading.isOver && nowMs - reading.startedMs >= maxAgeMs))
        reading = start(nowMs);
      await reading.done;
      return { byNode, version };
    },
    /** Returns the counters of one node as they are now; null before its first check. */
    one: async (nodeId: string) => {
      const record = await stateStore.get(nodeCheckKey(nodeId));
      return record === null ? null : nodeCheck.parse(record.value);
    },
    /** Notes what this process has written, so that it shows its own writes at once. */
    note: (nodeId: string, check: NodeCheck) => {
      reading?.noted.set(nodeId, check);
      keepNewer(nodeId, check);
    },
  };

  function start(startedMs: number): Reading {
    const started: Reading = { startedMs, noted: new Map(), done: Promise.resolve(), isOver: false };
    started.done = readAll().then(
      (found) => {
        started.isOver = true;
        byNode = found;
        for (const [nodeId, check] of started.noted) keepNewer(nodeId, check);
        version += 1;
      },
      (error: unknown) => {
        // The callers get the error. The next one reads again.
        reading = null;
        throw error;
      },
    );
    return started;
  }

  async function readAll(): Promise<Map<string, NodeCheck>> {
    const found = new Map<string, NodeCheck>();
    for await (const page of pagesOf(stateStore, nodeCheckPrefix, pageSize)) {
      for (const { key, value } of page) found.set(key.slice(nodeCheckPrefix.length), nodeCheck.parse(value));
    }
    return found;
  }

  function keepNewer(nodeId: string, check: NodeCheck): void {
    const known = byNode.get(nodeId);
    if (known !== undefined && known.sequence >= check.sequence) return;
    byNode.set(nodeId, check);
    version += 1;
  }
}
