import { endpointConsumer } from '../event-sourcing/feeding/consumers/tasks.js';
import { runConsumers } from '../event-sourcing/feeding/consumers/run-consumers.js';
import type { Lease, Progress } from '../event-sourcing/feeding/consumers/lease.js';
import type { LaneFigures } from '../event-sourcing/effects/outbox.js';
import { StoreUnavailable } from '../event-sourcing/ports/errors.js';
import type { WebhookEndpoint } from './endpoint.js';
import { feedEndpoint, type WebhookDeps, type WebhookEvents } from './feed-endpoint.js';

/** An endpoint that this process feeds, for metrics. */
interface WebhookStatus extends LaneFigures {
  readonly endpointId: string;
  readonly state: 'delivering' | 'gone' | 'stopped';
}

export type WebhookRunner = ReturnType<typeof startWebhooks>;

/** An endpoint that no setting names is dropped after it was stalled for this time: every process may be restarting. */
export const dropAfterMs = 10 * 60 * 1_000;
const dropEachMs = 60 * 1_000;

/**
 * Feeds the endpoints while this process is the owner of the lease: src/event-sourcing/feeding/README.md#the-lease. Endpoints are independent of
 * one another. It also drops the stored state of endpoints that no process feeds for ten minutes.
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
) {
  const { lease, records, clock } = deps;
  const stopping = new AbortController();
  /** By endpoint that this process does not name: the version of its record, and since when that is unchanged here. */
  const sightings = new Map<string, { readonly version: string; readonly sinceMs: number }>();
  const consumers = runConsumers(
    lease,
    endpoints.map((endpoint) => ({
      name: endpointConsumer(endpoint.id),
      tasks: () => new Map([[endpoint.id, (signal: AbortSignal) => feed(endpoint, signal)]]),
      progress: ([status]: readonly WebhookStatus[]) => progressOf(status),
    })),
    // An endpoint may stop at an event of a newer release, for example.
    events.onStopped,
  );
  const dropping = dropUnused();
  return {
    statuses: consumers.statuses,
    /** Begins no attempt, cuts running ones off and saves the checkpoints. Events that are cut off are sent again. */
    stop: async () => {
      stopping.abort();
      await Promise.all([consumers.stop(), dropping]);
    },
  };

  function progressOf(status: WebhookStatus | undefined): Progress {
    if (status === undefined) return { state: null, lagMs: 0, problem: null };
    const { state, oldestAt } = status;
    const lagMs = oldestAt === null ? 0 : Math.max(0, clock.now().getTime() - oldestAt.getTime());
    if (state === 'delivering') return { state: 'running', lagMs, problem: null };
    const problem = state === 'gone' ? 'it answered 410 Gone' : 'it stopped; the log says why';
    return { state: 'stopped', lagMs, problem };
  }

  function feed(endpoint: WebhookEndpoint, signal: AbortSignal) {
    const { id: endpointId } = endpoint;
    let state: WebhookStatus['state'] = 'delivering';
    const { done, figures } = feedEndpoint(deps, endpoint, { signal, events });
    return {
      status: (): WebhookStatus => ({ endpointId, state, ...figures() }),
      done: done.then((ended) => {
        if (ended === 'ended') return;
        state = 'gone';
        events.onGone(endpointId);
      }),
    };
  }

  async function dropUnused(): Promise<void> {
    const own = new Set(endpoints.map(({ id }) => id));
    // Processes that start later may name an endpoint that this one does not.
    for (let waitMs = dropAfterMs; !isStopping(); waitMs = dropEachMs) {
      try {
        for (const [id, version] of await records.endpointVersions())
          if (!own.has(id)) await dropWhereUnused(id, version);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        // A later look finds them again.
        events.onRetry('none', error, 0);
      }
      await clock.sleep(waitMs, stopping.signal).catch(() => undefined);
    }
  }

  /** Times are those of this process alone: the clock of another one may differ, or have been ahead. */
  async function dropWhereUnused(id: string, version: string): Promise<void> {
    const [seen, nowMs] = [sightings.get(id), clock.steadyMs()];
    if (seen?.version !== version) sightings.set(id, { version, sinceMs: nowMs });
    else if (nowMs - seen.sinceMs >= dropAfterMs) {
      await records.drop(id);
      events.onDropped(id);
    }
  }

  function isStopping(): boolean {
    return stopping.signal.aborted;
  }
}
