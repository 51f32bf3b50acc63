import { END, streamNameFilter, type AllStreamSubscription, type Credentials } from '@eventstore/db-client';
import { backoff, type Clock, type Random } from '../../event-sourcing/clock.js';
import type { Client } from './client.js';

/** A live subscription whose only use is to say that something was appended; what, is read from the log. */
export interface WakeUp {
  /** Subscribes, if that has not happened yet, and stays subscribed. */
  start(): void;
  /** Says that our part of the log was found to have grown, so that a subscription that kept silent is noticed. */
  grew(): void;
  stop(): void;
}

export interface WakeUpDeps {
  readonly credentials: Credentials;
  readonly prefix: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly wake: () => void;
  /** Told each time a subscription is lost, and why; that is normal operation. */
  readonly onLost: (reason: string) => void;
  readonly limits: { readonly callMs: number; readonly silenceMs: number };
}

/**
 * Keeps a subscription to the end of the log. It may be refused, dropped (servers of 21.10 drop it at 32 events that
 * were not taken), ended, or fall silent while it looks alive; in each case the next one is opened after a capped,
 * jittered wait. Nothing is lost meanwhile: the follower polls.
 */
export function makeWakeUp(client: Client, deps: WakeUpDeps): WakeUp {
  const { clock, random, limits } = deps;
  const stopping = new AbortController();
  let started = false;
  let heardSinceGrowth = true;
  let unheardSinceMs: number | null = null;
  let giveUp: (reason: string) => void = () => undefined;
  const stopped = (): boolean => stopping.signal.aborted;

  return {
    start: () => {
      if (started || stopped()) return;
      started = true;
      void keepSubscribed();
    },
    grew: () => {
      const nowMs = clock.now().getTime();
      unheardSinceMs = heardSinceGrowth ? null : (unheardSinceMs ?? nowMs);
      heardSinceGrowth = false;
      if (unheardSinceMs !== null && nowMs - unheardSinceMs >= limits.silenceMs) giveUp('it fell silent');
    },
    stop: () => {
      stopping.abort();
      giveUp('the store was closed');
    },
  };

  async function keepSubscribed(): Promise<void> {
    for (let attempt = 0; !stopped(); attempt += 1) {
      const { confirmed, reason } = await listen();
      if (stopped()) return;
      deps.onLost(reason);
      if (confirmed) attempt = 0;
      // An aborted wait is how this ends.
      await clock
        .sleep(backoff(attempt, random, { first: 250, cap: 10_000 }), stopping.signal)
        .catch(() => undefined);
    }
  }

  /** One subscription, until it is lost. Its listeners are attached in the same tick (see `collect` in reads.ts). */
  function listen(): Promise<{ readonly confirmed: boolean; readonly reason: string }> {
    return new Promise((resolve) => {
      let confirmed = false;
      let over = false;
      const subscription = client.subscribeToAll({
        fromPosition: END,
        filter: streamNameFilter({ prefixes: [deps.prefix] }),
        credentials: deps.credentials,
      });
      const timer = setTimeout(() => {
        lost(`it was not confirmed within ${limits.callMs} ms`);
      }, limits.callMs);
      const lost = (reason: string): void => {
        if (over) return;
        over = true;
        clearTimeout(timer);
        // The listeners stay: a late error that nobody listened to would end the process.
        subscription.unsubscribe().catch(() => undefined);
        resolve({ confirmed, reason });
      };
      giveUp = lost;
      subscription.on('confirmation', () => {
        clearTimeout(timer);
        confirmed = true;
        heard();
      });
      subscription.on('data', () => {
        if (!over) heard();
      });
      listenForLoss(subscription, lost);
    });
  }

  function heard(): void {
    heardSinceGrowth = true;
    unheardSinceMs = null;
    deps.wake();
  }
}

function listenForLoss(subscription: AllStreamSubscription, lost: (reason: string) => void): void {
  subscription.on('error', (error: Error) => {
    lost(error.message);
  });
  for (const event of ['end', 'close'] as const) {
    subscription.on(event, () => {
      lost('it ended');
    });
  }
}
