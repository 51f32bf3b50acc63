import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { ReportNodeCheck } from './commands/checks.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { CommandRejected } from '../../event-sourcing/ports/errors.js';
import { makeSemaphore } from '../../kit/semaphore.js';
import type { Clock } from '../../kit/time/clock.js';
import type { Lease } from '../../event-sourcing/feeding/consumers/lease.js';
import { startSharedTask } from '../../event-sourcing/feeding/consumers/shared-task.js';
import type { Task } from '../../event-sourcing/feeding/consumers/tasks.js';
import type { NodeReader } from '../../../projections/nodes/peer-nodes/reader.js';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type Socket, connect } from 'node:net';

/** How the prober asks each node: by a connection, or by `GET` of a path. The host is the address of the node. */
type NodeProbe =
  | { readonly scheme: 'tcp'; readonly port: number }
  | { readonly scheme: 'http' | 'https'; readonly port: number; readonly path: string };

/** The sentence for a text that `parseProbeTarget` refuses. */
export const probeTargetForms =
  'must be tcp:<port>, http:<port>/<path> or https:<port>/<path>, for example tcp:443';

/** Parses `NODE_PROBER` (src/areas/nodes/README.md#prober). Returns null for a text of another form, or a port outside 1 to 65535. */
export function parseProbeTarget(text: string): NodeProbe | null {
  // A path is what Node sends as it is: visible characters of ASCII, and no fragment (RFC 9112, 3.2.1).
  const [, scheme, digits, path] = /^(tcp|https?):(\d{1,5})(\/[!"$-~]*)?$/.exec(text) ?? [];
  const port = Number(digits);
  if (!(port >= 1 && port <= 65_535)) return null;
  if (scheme === 'tcp') return path === undefined ? { scheme, port } : null;
  if (scheme !== 'http' && scheme !== 'https') return null;
  return path === undefined ? null : { scheme, port, path };
}

/**
 * Asks a node at an address once. Resolves with whether it has answered as it should, after its connection has closed. An
 * abort is a failure. Never rejects.
 */
export type Probe = ReturnType<typeof makeProbe>;

/** The time from the first packet to the verdict. */
export const probeMs = 3_000;

/**
 * Makes the probe. `tcp`: the node accepts a connection. `http` and `https`: the reply to `GET` has a status from 200 to 399.
 * It follows no redirect, reads no body, and checks no certificate: nodes have addresses and no names, and the probe sends
 * no secret and believes nothing but the status (src/areas/nodes/README.md#prober).
 */
export function makeProbe(target: NodeProbe, { timeMs = probeMs }: { readonly timeMs?: number } = {}) {
  return (address: string, signal: AbortSignal) =>
    new Promise<boolean>((resolve) => {
      if (signal.aborted) {
        resolve(false);
        return;
      }
      let isOk = false;
      const probing = open(target, address, (ok) => {
        isOk = ok;
        probing.destroy();
      });
      const end = () => probing.destroy();
      const timer = setTimeout(end, timeMs);
      signal.addEventListener('abort', end, { once: true });
      // The close that follows tells the failure.
      probing.on('error', () => undefined);
      probing.once('close', () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve(isOk);
      });
    });
}

/** Connects to the node. `onVerdict` is called at most once, and never before the function returns. */
function open(target: NodeProbe, host: string, onVerdict: (ok: boolean) => void): Socket | ClientRequest {
  const { scheme, port } = target;
  if (scheme === 'tcp') {
    return connect({ host, port }, () => onVerdict(true));
  }
  const options = {
    host,
    port,
    path: target.path,
    agent: false,
    headers: { 'user-agent': 'Stowage-Prober' },
  };
  const request =
    scheme === 'https' ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options);
  request.once('response', ({ statusCode = 0 }) => onVerdict(statusCode >= 200 && statusCode < 400));
  return request.end();
}

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
}

/**
 * Starts the prober (src/areas/nodes/README.md#prober). In one of the processes it probes each node once an interval, at the same moment
 * of each interval, and reports the results as checks. `done` resolves when no probe is under way and no result is reported.
 */
export function startProber(deps: ProberDeps): Task {
  const { nodes, probe, lease, clock } = deps;
  const semaphore = makeSemaphore(probesAtOnceMax);
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
      intervalMs: probeEveryMs,
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
    await clock.sleep(momentOf(nodeId) * probeEveryMs, ending.signal).catch(() => undefined);
    if (isOver()) return;
    // Its last turn still waits for a connection, so the turns of a node never queue up.
    if (busy.has(nodeId)) {
      late += 1;
      return;
    }
    busy.add(nodeId);
    // The permit goes to the next probe before the result is counted, so a slow store delays no probe.
    const ok = await semaphore.run(async () => (isOver() ? null : await probe(address, ending.signal)));
    // A probe that the end has cut off says nothing of its node.
    if (ok !== null && !ending.signal.aborted) await report(nodeId, ok);
    busy.delete(nodeId);
  }

  function isOver(): boolean {
    return ending.signal.aborted || !lease.isOwner();
  }
}

/** Makes the function that counts a result. A result that cannot be counted is lost: the next probe follows soon. */
function makeReport(
  deps: Pick<ProberDeps, 'reportNodeCheck' | 'newContext' | 'onRetry'>,
): (nodeId: string, ok: boolean) => Promise<void> {
  const { reportNodeCheck, newContext, onRetry } = deps;
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
