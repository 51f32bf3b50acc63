import {
  START,
  streamNameFilter,
  type AllStreamRecordedEvent,
  type AllStreamSubscription,
  type Credentials,
} from '@eventstore/db-client';
import { backoff, type Clock, type Random } from '../../kit/time/clock.js';
import type { Position } from '../../event-sourcing/ports/domain-event.js';
import type { Client } from './client.js';
import { parsePosition } from './same-log/positions.js';

interface LiveSubscriptionDeps {
  readonly credentials: Credentials;
  readonly prefix: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Returns the position that the reader has passed. */
  readonly front: () => Position | null;
  /** From here on the server sends every event of the prefix after the position, in order. */
  readonly onLive: (from: Position | null) => void;
  /** Returns false if the reader cannot keep up. */
  readonly onRecord: (record: AllStreamRecordedEvent) => boolean;
  /** Receives the reason each time a subscription is lost, which is normal operation. */
  readonly onLost: (reason: string) => void;
  readonly limits: { readonly callMs: number; readonly silenceMs: number };
}

/**
 * Keeps a subscription while the reader is at the end of the log. The server may refuse, end or silence it; 21.10 drops
 * it at 32 unconsumed events. The reader then reads pages. The next subscription opens at the end of the log, after a
 * capped, jittered back-off.
 */
export function makeLiveSubscription(client: Client, deps: LiveSubscriptionDeps) {
  const { clock, random, limits } = deps;
  const stopping = new AbortController();
  let attempt = 0;
  let state: 'closed' | 'backing-off' | 'open' = 'closed';
  /** Whether the reader has reached the end of the log since the last loss. */
  let wanted = false;
  let heardSinceGrowth = true;
  let unheardSinceMs: number | null = null;
  let giveUp: (reason: string) => void = () => undefined;
  const stopped = (): boolean => stopping.signal.aborted;

  return {
    /** Reports that the reader is at the end of the log. Opens a subscription there unless one is open. */
    atHead: () => {
      wanted = true;
      if (state === 'closed' && !stopped()) void keepOpen();
    },
    /** Ends the subscription until `atHead`: no consumer takes its events. */
    rest: () => {
      wanted = false;
      giveUp('no consumer takes its events');
    },
    /** Reports that a read found new events of this service. A subscription that stays silent after it counts as lost. */
    grew: () => {
      const nowMs = clock.steadyMs();
      unheardSinceMs = heardSinceGrowth ? null : (unheardSinceMs ?? nowMs);
      heardSinceGrowth = false;
      if (unheardSinceMs !== null && nowMs - unheardSinceMs >= limits.silenceMs) giveUp('it fell silent');
    },
    /** Counts the subscription as lost. */
    leave: (reason: string) => giveUp(reason),
    stop: () => {
      stopping.abort();
      giveUp('the store was closed');
    },
  };

  async function keepOpen(): Promise<void> {
    while (wanted && !stopped()) {
      state = 'open';
      const { confirmed, reason } = await listen();
      if (stopped()) return;
      state = 'backing-off';
      // Set before the loss is reported: the reader reads on, and reports the end of the log again.
      wanted = false;
      deps.onLost(reason);
      attempt = confirmed ? 0 : attempt + 1;
      // `stop` aborts the wait; the loop then ends.
      await clock
        .sleep(backoff(attempt, random, { first: 250, cap: 10_000 }), stopping.signal)
        .catch(() => undefined);
    }
    state = 'closed';
  }

  /** Opens a subscription and resolves when it is lost. It attaches listeners in the same tick, as `collect` does. */
  function listen(): Promise<{ readonly confirmed: boolean; readonly reason: string }> {
    return new Promise((resolve) => {
      let confirmed = false;
      let over = false;
      // While no subscription was open, reads went on and no event was heard.
      heard();
      const from = deps.front();
      const subscription = client.subscribeToAll({
        fromPosition: from === null ? START : parsePosition(from),
        filter: streamNameFilter({ prefixes: [deps.prefix, `$$${deps.prefix}`] }),
        credentials: deps.credentials,
      });
      const timer = setTimeout(() => lost(`it was not confirmed within ${limits.callMs} ms`), limits.callMs);
      const lost = (reason: string): void => {
        if (over) return;
        over = true;
        clearTimeout(timer);
        // The listeners stay: a late error event without a listener would end the process.
        subscription.unsubscribe().catch(() => undefined);
        resolve({ confirmed, reason });
      };
      giveUp = lost;
      subscription.on('confirmation', () => {
        if (over) return;
        clearTimeout(timer);
        confirmed = true;
        heard();
        deps.onLive(from);
      });
      subscription.on('data', ({ event }) => {
        if (over || event === undefined) return;
        client.heard();
        heard();
        if (!deps.onRecord(event)) lost('its events come faster than they are taken');
      });
      listenForLoss(subscription, lost);
    });
  }

  function heard(): void {
    heardSinceGrowth = true;
    unheardSinceMs = null;
  }
}

function listenForLoss(subscription: AllStreamSubscription, lost: (reason: string) => void): void {
  subscription.on('error', (error: Error) => lost(error.message));
  for (const event of ['end', 'close'] as const) {
    subscription.on(event, () => lost('it ended'));
  }
}
