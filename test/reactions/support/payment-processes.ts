import { makeExpireOrder } from '../../../src/commands/expire-order.js';
import { makeFulfilOrder } from '../../../src/commands/fulfil-order.js';
import { makeReceivePaymentCallback } from '../../../src/commands/receive-payment-callback.js';
import { makeResolvePayment } from '../../../src/commands/resolve-payment.js';
import { makeSettlePayment } from '../../../src/commands/settle-payment.js';
import type { Clock, Random } from '../../../src/event-sourcing/clock.js';
import type { LogEvent } from '../../../src/event-sourcing/domain-event.js';
import { Overloaded, OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing/errors.js';
import type { EventStore } from '../../../src/event-sourcing/event-store.js';
import { makeCommandHandler } from '../../../src/event-sourcing/make-command-handler.js';
import { type AnyReaction, contextFor, eventFor } from '../../../src/event-sourcing/reaction.js';
import { makeExpireOrders } from '../../../src/reactions/expire-orders.js';
import { makeFulfilOrders } from '../../../src/reactions/fulfil-orders.js';
import { makeSettlePayments } from '../../../src/reactions/settle-payments.js';
import { makeMemoryEventStore } from '../../support/memory-event-store.js';
import { digest } from '../../support/examples/ids.js';
import { sealedExample } from '../../support/examples/sealed.js';
import { makeTestPaymentProvider } from '../../support/test-payment-provider.js';

/** The process stopped here, with all that it was at. */
class Crash extends Error {}

/** Chances per append, and of a request whose platform gives up waiting. */
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
 * Two processes over one log in memory: acceptance, settling, fulfilling and expiring of orders as production builds them, but for
 * their views, which nothing of this reads. Between any two calls of the store a process may wait while others go on; it may crash
 * before and after every append, and is started again by whoever asks for it.
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
  const storeClock: Clock = { now, sleep: () => Promise.resolve() };
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
    /** What was thrown that nothing explains. */
    problems,
  };

  /** The process, started again where it has crashed. */
  function at(slot: 0 | 1) {
    const held = slots[slot];
    if (held === undefined) throw new Error('there are two');
    if (held.process.isDead()) {
      held.process = startProcess(slot);
      // It goes on from the mark, which the other may have moved: what that one has settled is not looked at again.
      for (const { settled } of slots) for (const key of settled) held.settled.add(key);
    }
    return { ...held.process, settled: held.settled };
  }

  /** All reactions of both processes at once, over what is in the log, until nothing more is written. */
  async function react(): Promise<void> {
    for (let head = null as string | null; head !== (await store.head());) {
      head = await store.head();
      const { events } = await store.readAll({ after: null, limit: 100_000 });
      await Promise.all(
        ([0, 1] as const).flatMap((slot) => {
          const { reactions, settled } = at(slot);
          return reactions.map((reaction) => follow(reaction, settled, events));
        }),
      );
    }
  }

  /** As a process follows the log: what has been settled is never looked at again, and what failed is, later. */
  async function follow(
    reaction: AnyReaction,
    settled: Set<string>,
    events: readonly LogEvent[],
  ): Promise<void> {
    for (const stored of events) {
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

  /** Null where it did not come to its end, as may happen. */
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
    const clock: Clock = { now, sleep };
    const eventStore: EventStore = { ...store, read, append };
    const handler = makeCommandHandler({
      ...{ eventStore, clock, random, cachedStreamsMax: 32 },
      documentWriter: { viewsOf: () => [], write: () => Promise.resolve() },
    });
    const settlePayment = makeSettlePayment({ handler });
    const reactions: readonly AnyReaction[] = [
      makeSettlePayments({ settlePayment }),
      makeFulfilOrders({ fulfilOrder: makeFulfilOrder({ handler }) }),
      makeExpireOrders({ expireOrder: makeExpireOrder({ handler, clock }), clock }),
    ];
    const receivePaymentCallback = makeReceivePaymentCallback({
      ...{ providers, handler, settlePayment, clock },
      onRefused: (_, reason) => void problems.push(`refused: ${reason}`),
      onConflict: () => undefined,
      onFailure: (_, error) => {
        mishap(error);
      },
    });
    const resolvePayment = makeResolvePayment({
      ...{ handler, settlePayment },
      // What an operator writes matters to nobody here.
      sealer: { seal: () => Promise.resolve(sealedNote) },
      digests: { of: () => digest },
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
        trace(`${does}, and does not hear what came of it`);
        throw new OutcomeUnknown('the answer was lost');
      }
      const appended = await store.append(...call);
      trace(does);
      await step();
      return appended;
    }

    /** Others go on meanwhile; a process that has crashed does nothing more. */
    async function step(): Promise<void> {
      for (let ticks = random() < 0.5 ? 0 : Math.floor(random() * 12); ticks > 0; ticks -= 1)
        await Promise.resolve();
      if (isDead) throw new Crash('the process has stopped');
    }

    /** Waits between two tries pass at once. How long a platform is kept waiting is the weather's to say. */
    async function sleep(ms: number): Promise<void> {
      const isLimit = ms > 1_000;
      if (isLimit && random() >= weather.slow) return new Promise(() => undefined);
      for (let ticks = isLimit ? Math.floor(random() * 100) : 1; ticks > 0; ticks -= 1)
        await Promise.resolve();
    }
  }
}
