import type { NodeDeps } from '../deps.js';
import { Overloaded, makeKeyedMutex } from '../../../kit/semaphore.js';
import {
  type NodeCheck,
  afterResult,
  nodeCheck,
  nodeCheckKey,
  afterSilence,
  nodeCheckPrefix,
} from '../domain/node/fold.js';
import { isBehind, nodeAggregate, type RegisteredNode, requireNode } from '../domain/node/node.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { OutcomeUnknown, StoreUnavailable, CommandRejected } from '../../../event-sourcing/ports/errors.js';
import { stepContext } from '../../../event-sourcing/deciding/ids.js';
import { changeRecord } from '../../../event-sourcing/ports/change-record.js';
import type { NodeHealth } from '../domain/node/events.js';
import type { StateRecord } from '../../../event-sourcing/ports/state-store.js';

/**
 * Counts the result of a check, and brings the status of the node to that of its record (src/areas/nodes/README.md#node-checks).
 * @throws CommandRejected node_not_found; Overloaded, StoreUnavailable when nothing was counted; OutcomeUnknown
 */
export type ReportNodeCheck = ReturnType<typeof makeReportNodeCheck>;

/** Checks of one node that may wait in a process. */
const waitingMax = 1_000;
/** Only other processes race for a record. Each race that is lost is a result that another process counted. */
const tries = 100;

export function makeReportNodeCheck(
  deps: Pick<NodeDeps, 'handler' | 'stateStore' | 'nodeChecks' | 'onChecked'>,
) {
  const { handler, stateStore, nodeChecks, onChecked } = deps;
  const queued = makeKeyedMutex({ waitingMax });
  const followCheck = makeFollowCheck(deps);
  return async ({ nodeId, ok }: { nodeId: string; ok: boolean }, context: CommandContext) => {
    // Without this, checks of nodes that do not exist would fill the state store.
    const known = requireNode((await handler.load(nodeAggregate, nodeId)).state);
    const counted = await queued(nodeId, () => count(nodeId, known, ok, context));
    onChecked?.(ok);
    nodeChecks.note(nodeId, counted);
    await followCheck(nodeId, counted, context);
  };

  async function count(
    nodeId: string,
    known: RegisteredNode,
    ok: boolean,
    { request, time }: CommandContext,
  ): Promise<NodeCheck> {
    request?.appending();
    try {
      const changed = await changeRecord(
        stateStore,
        { key: nodeCheckKey(nodeId), schema: nodeCheck },
        (found) => {
          if (request?.isOver() === true) throw new StoreUnavailable('the request has been answered');
          const result = afterResult(found?.value ?? null, known, { ok, time });
          return { write: result, result };
        },
        { tries },
      );
      if (changed === null) throw new Overloaded(`a check lost ${tries} races for its record`);
      if ('kept' in changed) throw new Error('a check keeps no record');
      return changed.result;
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) request?.wroteNothing();
      throw error;
    }
  }
}

/** Brings the stream of a node to the status of its record. @throws CommandRejected node_not_found; StoreUnavailable */
export type FollowCheck = (nodeId: string, check: NodeCheck, context: CommandContext) => Promise<void>;

/**
 * Makes the function. Another process may write a newer record, and find the stream unchanged, before this one appends an
 * older status. So each append is followed by a look at the record
 * (docs/decisions/nodes.md#0068-records-hold-the-status).
 */
export function makeFollowCheck(deps: Pick<NodeDeps, 'handler' | 'nodeChecks'>): FollowCheck {
  const { handler, nodeChecks } = deps;
  return async (nodeId, check, { request: _, ...context }) => {
    for (let newest: NodeCheck | null = check; newest !== null;) {
      const followed: NodeCheck = newest;
      // A command without an event writes its documents all the same, and every list would be read again.
      const { state } = await handler.load(nodeAggregate, nodeId);
      if (!isBehind(requireNode(state), followed)) return;
      // One command appends several times here, so each append needs an id.
      const step = stepContext(context, `check ${followed.sequence}`);
      const follow = { type: 'FollowCheck', check: followed } as const;
      const { events } = await handler.handle(nodeAggregate.at(nodeId), follow, step);
      if (events.length === 0) return;
      const stored = await nodeChecks.one(nodeId);
      newest = stored !== null && stored.sequence > followed.sequence ? stored : null;
    }
  };
}

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
    for (;;) {
      const after = records.at(-1)?.key;
      const page = await stateStore.list(nodeCheckPrefix, {
        limit: pageSize,
        ...(after === undefined ? {} : { after }),
      });
      records.push(...page);
      if (page.length < pageSize) return records;
    }
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
