import { endpointConsumer } from '../event-sourcing/feeding/consumers/names.js';
import { makeTasks, type Task } from '../event-sourcing/feeding/consumers/tasks.js';
import type { Lease, Progress } from '../event-sourcing/feeding/consumers/lease.js';
import type { LaneFigures } from '../event-sourcing/effects/outbox.js';
import { StoreUnavailable } from '../event-sourcing/ports/errors.js';
import type { WebhookEndpoint } from './endpoint.js';
import { feedEndpoint, type WebhookDeps, type WebhookEvents } from './feed-endpoint.js';

/** An endpoint that this process feeds, for metrics. */
export interface WebhookStatus extends LaneFigures {
  readonly endpointId: string;
  readonly state: 'delivering' | 'gone' | 'stopped';
}

export interface WebhookRunner {
  statuses(): readonly WebhookStatus[];
  /** Begins no attempt, cuts running ones off and saves the marks. Events that are cut off are sent again. */
  stop(): Promise<void>;
}

interface EndpointTask extends Task {
  status(): WebhookStatus;
}

/** An endpoint that no setting names is dropped after it was not fed for this time: every process may be restarting. */
export const dropAfterMs = 10 * 60 * 1_000;
const dropEachMs = 60 * 1_000;

/**
 * Feeds the endpoints while this process is the owner of the lease: src/event-sourcing/feeding/README.md#the-lease. Endpoints are independent of
 * one another. It also drops the stored state of endpoints that no process has fed for ten minutes.
 */
export function startWebhooks(
  deps: WebhookDeps & { readonly lease: Lease },
  endpoints: readonly WebhookEndpoint[],
  events: WebhookEvents & {
    /** An endpoint stopped. The others go on. */
    readonly onStopped: (endpointId: string, error: unknown) => void;
    readonly onGone: (endpointId: string) => void;
    readonly onDropped: (endpointId: string) => void;
  },
): WebhookRunner {
  const { lease, records, clock } = deps;
  const tasks = makeTasks<EndpointTask>();
  /** Endpoints that have stopped here, for example at an event of a newer release. */
  const stoppedHere = new Set<string>();
  const stopping = new AbortController();
  for (const { id } of endpoints) lease.add(endpointConsumer(id), () => progressOf(id));
  adjust();
  const removeListener = lease.onChange(adjust);
  const dropping = dropUnused();

  return {
    statuses: () => tasks.all().map((task) => task.status()),
    stop: async () => {
      removeListener();
      stopping.abort();
      await Promise.all([tasks.stop(), dropping]);
    },
  };

  function progressOf(endpointId: string): Progress {
    const status = tasks.get(endpointId)?.status();
    if (status === undefined) return { state: null, lagMs: 0, problem: null };
    const { state, oldestAt } = status;
    const lagMs = oldestAt === null ? 0 : Math.max(0, clock.now().getTime() - oldestAt.getTime());
    if (state === 'delivering') return { state: 'running', lagMs, problem: null };
    const problem = state === 'gone' ? 'it answered 410 Gone' : 'it stopped; the log says why';
    return { state: 'stopped', lagMs, problem };
  }

  function adjust(): void {
    const wanted = new Map<string, () => EndpointTask>();
    for (const endpoint of endpoints) {
      if (lease.isOwner() || stoppedHere.has(endpoint.id)) wanted.set(endpoint.id, () => startTask(endpoint));
    }
    tasks.adjust(wanted);
  }

  function startTask(endpoint: WebhookEndpoint): EndpointTask {
    const { id: endpointId } = endpoint;
    const controller = new AbortController();
    let state: WebhookStatus['state'] = 'delivering';
    const feed = feedEndpoint(deps, endpoint, { signal: controller.signal, events });
    return {
      end: () => {
        controller.abort();
      },
      status: () => ({ endpointId, state, ...feed.figures() }),
      done: feed.done.then(
        (ended) => {
          if (ended === 'ended') return;
          state = 'gone';
          events.onGone(endpointId);
        },
        (error: unknown) => {
          state = 'stopped';
          events.onStopped(endpointId, error);
          stoppedHere.add(endpointId);
          lease.stopped(endpointConsumer(endpointId));
        },
      ),
    };
  }

  async function dropUnused(): Promise<void> {
    const own = new Set(endpoints.map(({ id }) => id));
    // Processes that start later may name an endpoint that this one does not.
    for (let waitMs = dropAfterMs; !isStopping(); waitMs = dropEachMs) {
      await clock.sleep(waitMs, stopping.signal).catch(() => undefined);
      if (isStopping()) return;
      try {
        const ids = await records.endpointIds();
        for (const id of ids.filter((stored) => !own.has(stored))) await dropWhereUnused(id);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        // The next look comes in a minute.
        events.onRetry('none', error, 0);
      }
    }
  }

  async function dropWhereUnused(id: string): Promise<void> {
    const found = await records.endpoint(id);
    if (found === null || clock.now().getTime() - Date.parse(found.seen_at) < dropAfterMs) return;
    await records.drop(id);
    events.onDropped(id);
  }

  function isStopping(): boolean {
    return stopping.signal.aborted;
  }
}
