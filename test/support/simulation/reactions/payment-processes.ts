import {
  checkCapacityGrants,
  checkEntitlementGrants,
  fulfilOrders,
  makeFulfilling,
} from '../../../../src/areas/payments/commands/buying/fulfilling.js';
import {
  makeAcceptCallback,
  makeReceivePaymentCallback,
} from '../../../../src/areas/payments/commands/callbacks/callbacks.js';
import { makeResolving } from '../../../../src/areas/payments/commands/deciding/resolving.js';
import {
  applyReports,
  makePaymentReports,
} from '../../../../src/areas/payments/commands/callbacks/reports.js';
import type { Clock, Random } from '../../../../src/kit/time/clock.js';
import type { LogEvent } from '../../../../src/event-sourcing/ports/domain-event.js';
import { OutcomeUnknown, StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import { Overloaded } from '../../../../src/kit/semaphore.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { makeCommandHandler } from '../../../../src/event-sourcing/deciding/make-command-handler.js';
import { type AnyReaction, contextFor, eventFor } from '../../../../src/event-sourcing/effects/reaction.js';
import { expireOrders } from '../../../../src/areas/payments/commands/buying/placing.js';
import { makeMemoryEventStore } from '../../fakes/memory-event-store.js';
import { digest } from '../../examples/ids.js';
import { sealedExample } from '../../examples/sealed.js';
import { makeTestPaymentProvider } from '../../fakes/test-payment-provider.js';
import { partial } from '../../fakes/partial.js';
import { withoutViews } from '../../kernel/world.js';

/** Stops the process with all its running work. */
class Crash extends Error {}

/** The probability of faults per append, and of a time limit that passes before the request is answered. */
export interface PaymentWeather {
  readonly crash: number;
  readonly loseAnswer: number;
  readonly slow: number;
}

export const calm: PaymentWeather = { crash: 0, loseAnswer: 0, slow: 0 };

const sealedNote = sealedExample('why');
const provider = makeTestPaymentProvider();
const providers = new Map([
  ['standard', provider],
  ['stripe', provider],
] as const);

export type PaymentProcess = ReturnType<PaymentProcesses['at']>;
export type PaymentProcesses = ReturnType<typeof makePaymentProcesses>;

/**
 * Makes two processes over one log in memory. They accept, apply, fulfil and expire as production does, without views,
 * because no part of the test reads them. Between any two store calls a process may wait while others run. It may crash
 * before and after every append, and the next call to it starts it again.
 */
export function makePaymentProcesses({
  random,
  now,
  trace = () => undefined,
}: {
  readonly random: Random;
  readonly now: () => Date;
  readonly trace?: ((line: string) => void) | undefined;
}) {
  let weather = calm;
  let crashes = 0;
  const problems: string[] = [];
  const storeClock: Clock = { now, steadyMs: () => now().getTime(), sleep: () => Promise.resolve() };
  const store = makeMemoryEventStore({ clock: storeClock, random });
  const slots = ([0, 1] as const).map((slot) => ({
    process: startProcess(slot),
    settled: new Set<string>(),
  }));

  return {
    /** The log, without faults. */
    store,
    at,
    react,
    deliverable,
    setWeather: (next: PaymentWeather) => {
      weather = next;
    },
    crashes: () => crashes,
    /** Errors that no fault explains. */
    problems,
  };

  /** Returns the process of a slot, and starts it again after a crash. */
  function at(slot: 0 | 1) {
    const held = slots[slot];
    if (held === undefined) throw new Error('there are two processes');
    if (held.process.isDead()) {
      held.process = startProcess(slot);
      // It continues from the checkpoint, which the other process may have moved, so it skips the events of that one.
      for (const { settled } of slots) for (const key of settled) held.settled.add(key);
    }
    return { ...held.process, settled: held.settled };
  }

  /** Runs all reactions of both processes at once over the log until they write nothing more. */
  async function react(): Promise<void> {
    for (let head = null as string | null; head !== (await store.head());) {
      head = await store.head();
      await Promise.all(
        ([0, 1] as const).flatMap((slot) => {
          const { reactions, settled } = at(slot);
          return reactions.map((reaction) => follow(reaction, settled));
        }),
      );
    }
  }

  /** Follows the log as a process does, while it grows: it skips handled events and retries failed ones later. */
  async function follow(reaction: AnyReaction, settled: Set<string>): Promise<void> {
    for await (const stored of growingLog()) {
      const key = `${reaction.name}/${stored.position}`;
      if (!reaction.types.includes(stored.type) || settled.has(key)) continue;
      const event = eventFor(reaction, stored);
      if (event === null) continue;
      try {
        const asked = await reaction.asks(event);
        if (typeof asked === 'object') continue;
        if (asked === 'yes') await reaction.conclude(event, contextFor(reaction, event), undefined);
        settled.add(key);
      } catch (error) {
        mishap(error);
      }
    }
  }

  /** Yields every event, also those that are appended before the last one is handled. */
  async function* growingLog(): AsyncGenerator<LogEvent> {
    for (let after: string | null = null; ;) {
      const page = await store.readAll({ after, limit: 1 });
      yield* page.events;
      if (page.events.length === 0 && page.atHead) return;
      after = page.cursor;
    }
  }

  /** Returns null for work that a fault ended. */
  async function deliverable<Result>(work: Promise<Result>): Promise<Result | null> {
    try {
      return await work;
    } catch (error) {
      mishap(error);
      return null;
    }
  }

  function mishap(error: unknown): void {
    const isKnown =
      error instanceof Crash || error instanceof StoreUnavailable || error instanceof Overloaded;
    if (!isKnown)
      problems.push(`thrown: ${error instanceof Error ? (error.stack ?? error.message) : 'something'}`);
  }

  function startProcess(slot: 0 | 1) {
    let isDead = false;
    const clock: Clock = { now, steadyMs: () => now().getTime(), sleep };
    const eventStore: EventStore = { ...store, read, append };
    const handler = makeCommandHandler({
      ...{ eventStore, clock, random, cachedStreamsMax: 32 },
      documentWriter: withoutViews,
    });
    const paymentReports = makePaymentReports({ handler, paymentMakers: new Map() });
    const fulfilOrder = makeFulfilling({ handler });
    const reactions: readonly AnyReaction[] = [
      applyReports(paymentReports),
      fulfilOrders(fulfilOrder),
      checkCapacityGrants(fulfilOrder),
      checkEntitlementGrants(fulfilOrder),
      expireOrders({ handler, clock }),
    ];
    const acceptCallback = makeAcceptCallback({
      ...{ handler, paymentMakers: new Map(), clock },
      onConflict: () => undefined,
      onFailure: (_, error) => mishap(error),
    });
    const receivePaymentCallback = makeReceivePaymentCallback({
      ...{ paymentProviders: providers, acceptCallback, clock },
      onRefused: (_, reason) => void problems.push(`refused: ${reason}`),
    });
    const { resolvePayment } = makeResolving({
      ...{ handler, paymentReports },
      // No part of the test reads the note of an operator.
      sealer: partial({ seal: () => Promise.resolve(sealedNote) }),
      digests: partial({ of: () => digest }),
    });
    return { isDead: () => isDead, handler, reactions, receivePaymentCallback, resolvePayment };

    async function read(...call: Parameters<EventStore['read']>) {
      await step();
      return store.read(...call);
    }

    async function append(...call: Parameters<EventStore['append']>) {
      await step();
      const [stream, , events] = call;
      const draw = random();
      const does = `process ${slot + 1} appends ${events.map(({ type }) => type).join(', ')} to ${stream}`;
      if (draw < weather.crash) {
        crashes += 1;
        isDead = true;
        if (draw < weather.crash / 2) await store.append(...call);
        trace(`${does}, and crashes ${draw < weather.crash / 2 ? 'afterwards' : 'before it is done'}`);
        throw new Crash('the process stopped');
      }
      if (draw < weather.crash + weather.loseAnswer) {
        if (draw < weather.crash + weather.loseAnswer / 2) await store.append(...call);
        trace(`${does}, and gets no answer`);
        throw new OutcomeUnknown('the answer was lost');
      }
      const appended = await store.append(...call);
      trace(does);
      await step();
      return appended;
    }

    /** Lets others run. A crashed process does nothing more. */
    async function step(): Promise<void> {
      for (let ticks = random() < 0.5 ? 0 : Math.floor(random() * 12); ticks > 0; ticks -= 1)
        await Promise.resolve();
      if (isDead) throw new Crash('the process has stopped');
    }

    /** A wait of up to 1 s passes in one tick. A longer one is a time limit: the weather decides if it ever passes. */
    async function sleep(ms: number): Promise<void> {
      const isLimit = ms > 1_000;
      if (isLimit && random() >= weather.slow) return new Promise(() => undefined);
      for (let ticks = isLimit ? Math.floor(random() * 100) : 1; ticks > 0; ticks -= 1)
        await Promise.resolve();
    }
  }
}
