import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import Bottleneck from 'bottleneck';
import type { ReportNodeCheck } from '../commands/checks.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { CommandRejected } from '../../../event-sourcing/ports/errors.js';
import type { Clock } from '../../../kit/time/clock.js';
import type { Lease } from '../../../event-sourcing/feeding/consumers/lease.js';
import { startSharedTask } from '../../../event-sourcing/feeding/consumers/shared-task.js';
import type { Task } from '../../../event-sourcing/feeding/consumers/tasks.js';
import type { NodeReader } from '../../../../projections/nodes/peer-nodes/reader.js';
import type { Probe } from './probe.js';

/** The name of the task that one of the processes has. */
export const proberName = 'node-prober';

const probeEveryMs = 10_000;
/** Each probe has one connection. */
const probesAtOnceMax = 50;

interface ProberDeps {
  readonly nodes: Pick<NodeReader, 'listed'>;
  readonly reportNodeCheck: ReportNodeCheck;
  readonly probe: Probe;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly newContext: () => CommandContext;
  /** Receives the first error of each series of results that were not counted, or of lists that were not read. */
  readonly onRetry: (name: string, error: unknown) => void;
  /** Receives the turns that an interval left out because the turn before was not over, once for each series of intervals. */
  readonly onLate: (turns: number) => void;
  /** 10 s when left out. */
  readonly intervalMs?: number;
}

/**
 * Starts the prober (src/areas/nodes/README.md#prober). In one of the processes it probes each node once an interval, at the same moment
 * of each interval, and reports the results as checks. `done` resolves when no probe is under way and no result is reported.
 */
export function startProber(deps: ProberDeps): Task {
  const { nodes, probe, lease, clock, intervalMs = probeEveryMs } = deps;
  const limiter = new Bottleneck({ maxConcurrent: probesAtOnceMax });
  const report = makeReport(deps);
  const ending = new AbortController();
  // Each turn listens until it is over.
  setMaxListeners(0, ending.signal);
  const turns = new Set<Promise<void>>();
  const busy = new Set<string>();
  let isNew = true;
  let [late, isLate] = [0, false];

  const rounds = startSharedTask(
    {
      name: proberName,
      intervalMs,
      work: startRound,
      pause: () => {
        isNew = true;
      },
    },
    deps,
  );
  return {
    end: () => {
      rounds.end();
      ending.abort();
    },
    done: rounds.done.then(async () => {
      await Promise.all(turns);
    }),
  };

  /** Gives each node its turn within the interval. */
  async function startRound(): Promise<void> {
    // The process that had the task before ends its probes in the first interval, so the two together keep the limit.
    const isFirst = isNew;
    isNew = false;
    if (isFirst) return;
    if (late > 0 && !isLate) deps.onLate(late);
    isLate = late > 0;
    late = 0;
    for (const { id, body } of await nodes.listed(clock)) {
      const turn = take(id, body.ip_address).finally(() => turns.delete(turn));
      turns.add(turn);
    }
  }

  async function take(nodeId: string, address: string): Promise<void> {
    // An abort ends the wait.
    await clock.sleep(momentOf(nodeId) * intervalMs, ending.signal).catch(() => undefined);
    if (isOver()) return;
    // Its last turn still waits for a connection, so the turns of a node never queue up.
    if (busy.has(nodeId)) {
      late += 1;
      return;
    }
    busy.add(nodeId);
    // The result gives its place to the next probe before it is counted, so a slow store delays no probe.
    const ok = await limiter.schedule(async () => (isOver() ? null : await probe(address, ending.signal)));
    // A probe that the end has cut off says nothing of its node.
    if (ok !== null && !ending.signal.aborted) await report(nodeId, ok);
    busy.delete(nodeId);
  }

  function isOver(): boolean {
    return ending.signal.aborted || !lease.isOwner();
  }
}

/** Makes the function that counts a result. A result that cannot be counted is lost: the next probe follows soon. */
function makeReport({
  reportNodeCheck,
  newContext,
  onRetry,
}: Pick<ProberDeps, 'reportNodeCheck' | 'newContext' | 'onRetry'>): (
  nodeId: string,
  ok: boolean,
) => Promise<void> {
  let failing = false;
  return async (nodeId, ok) => {
    try {
      await reportNodeCheck({ nodeId, ok }, newContext());
      failing = false;
    } catch (error) {
      // The node was removed after the list was read.
      if (error instanceof CommandRejected) return;
      if (!failing) onRetry(proberName, error);
      failing = true;
    }
  };
}

/** Returns the moment of a node in each interval: a fraction from 0 to 1 that only its id decides, so nodes spread evenly. */
function momentOf(nodeId: string): number {
  return createHash('sha256').update(nodeId).digest().readUInt32BE() / 2 ** 32;
}
