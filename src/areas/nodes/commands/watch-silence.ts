import { pagesOf } from '../../../event-sourcing/ports/state-store.js';
import type { NodeDeps } from '../deps.js';
import {
  type NodeCheck,
  afterSilence,
  nodeCheck,
  nodeCheckKey,
  nodeCheckPrefix,
} from '../domain/node/fold.js';
import { nodeAggregate } from '../domain/node/node.js';
import type { NodeHealth } from '../domain/node/events.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { CommandRejected, StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import type { StateRecord } from '../../../event-sourcing/ports/state-store.js';
import { makeFollowCheck } from './checks.js';

export const examineEveryMs = 10_000;
/** The first look at a record, and those of the 60 s after it. Intervals are counted, so no clock is compared. */
const silentAfterLooks = 7;
/** A record in its second look has no check under way that would do the same. */
const settledAfterLooks = 2;

const pageSize = 1_000;
/** Nodes that are brought up to date at once, so that many silent nodes are all found in time. */
const atOnce = 20;

type Sighting = { readonly record: StateRecord; readonly looks: number };

/** Finds silent nodes by what this process has observed (src/areas/nodes/README.md#node-checks). */
export function makeSilenceWatch(
  deps: Pick<NodeDeps, 'handler' | 'stateStore' | 'nodeChecks' | 'nodes'> & {
    readonly newContext: () => CommandContext;
  },
) {
  const { handler, stateStore, nodeChecks, nodes, newContext } = deps;
  const followCheck = makeFollowCheck(deps);
  let sightings: ReadonlyMap<string, Sighting> = new Map();
  return {
    /**
     * Looks at the records once; call it every 10 s. A record that has stayed the same for 60 s becomes silent. It also brings
     * streams to the status of their records, and removes the records of removed nodes.
     * @throws the first error, after all records that do not need the store that failed
     */
    examine: async (signal: AbortSignal) => {
      const records = await readAll();
      sightings = new Map(records.map((record) => [record.key, sighting(record)]));
      const documents = await nodes.listed();
      const healths = new Map(documents.map(({ id, body }) => [id, body.health]));
      const due = [...sightings.values()].filter(({ looks }) => looks >= settledAfterLooks);
      await forAll(due, signal, (seen) => tend(seen, healths));
    },
    /** Forgets what was observed: the next look is the first one. */
    forget: () => {
      sightings = new Map();
    },
  };

  function sighting(record: StateRecord): Sighting {
    const before = sightings.get(record.key);
    return { record, looks: before?.record.version === record.version ? before.looks + 1 : 1 };
  }

  async function readAll(): Promise<readonly StateRecord[]> {
    const records: StateRecord[] = [];
    for await (const page of pagesOf(stateStore, nodeCheckPrefix, pageSize)) records.push(...page);
    return records;
  }

  async function tend({ record, looks }: Sighting, healths: ReadonlyMap<string, NodeHealth>): Promise<void> {
    const nodeId = record.key.slice(nodeCheckPrefix.length);
    const check = nodeCheck.parse(record.value);
    if (looks >= silentAfterLooks && check.status !== 'unknown') await silence(nodeId, record.version, check);
    else if (healths.get(nodeId) !== check.status) await follow(nodeId, record.version, check);
  }

  /** A check that was faster wins: its node is not silent. */
  async function silence(nodeId: string, version: string, check: NodeCheck): Promise<void> {
    const context = newContext();
    const { state } = await handler.load(nodeAggregate, nodeId);
    if (state.status !== 'registered') return remove(nodeId, version);
    const silent = afterSilence(check, state, context.time);
    if ((await stateStore.compareAndSet(nodeCheckKey(nodeId), version, silent)) === null) return;
    nodeChecks.note(nodeId, silent);
    await followCheck(nodeId, silent, context);
  }

  async function follow(nodeId: string, version: string, check: NodeCheck): Promise<void> {
    try {
      await followCheck(nodeId, check, newContext());
    } catch (error) {
      if (!(error instanceof CommandRejected)) throw error;
      // The node was removed. Its id is never used again.
      await remove(nodeId, version);
    }
  }

  async function remove(nodeId: string, version: string): Promise<void> {
    await stateStore.compareAndSet(nodeCheckKey(nodeId), version, null);
  }
}

/** Works on some items at once. An error of one item ends no other, unless a store is away. */
async function forAll<Item>(
  items: readonly Item[],
  signal: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const isAway = (): boolean => failures.some((error) => error instanceof StoreUnavailable);
  for (let from = 0; from < items.length && !signal.aborted && !isAway(); from += atOnce) {
    const outcomes = await Promise.allSettled(items.slice(from, from + atOnce).map(work));
    failures.push(...outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : [])));
  }
  if (failures.length > 0) throw failures[0];
}
