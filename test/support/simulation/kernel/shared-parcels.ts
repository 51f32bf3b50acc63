import type { AnyReaction } from '../../../../src/event-sourcing/effects/reaction.js';
import { counterAggregate } from '../../examples/counter-aggregate.js';
import { contextOf, sendToCounter } from './given-process.js';
import { makeCountParcels, makeSendParcels, parcelAggregate } from './parcels.js';
import type { ReactingProcess } from './simulated-process.js';
import { handlerWithoutViews, type World } from '../../given/given-world.js';

/** The longest way of an effect, and of its answer. In milliseconds. */
const effectMs = 1_000;
/** When a process that nothing disturbs has recorded the outcome, with room for the delays of the stores. */
const concludedMs = 3_000;

/** The reactions that simulated processes share, and a watch on their effects. */
export interface SharedParcels {
  /** Returns the reaction with an outside effect, and the one that only sends a command. */
  readonly reactionsOf: (process: ReactingProcess) => readonly AnyReaction[];
  /** Requests one more parcel. */
  ask(): Promise<void>;
  /** Tells the watch that a process was killed or frozen just now. */
  disturbed(process: { readonly id: string }): void;
  /** Returns the first request without exactly one outcome, or an effect that was repeated without a cause; else null. */
  findProblem(): Promise<string | null>;
  /** The effects that have left a process, and how many of them were repetitions. */
  sum(): { readonly effects: number; readonly repeated: number };
}

/** An outside effect. `happened` is true once it has left the process. */
interface Effect {
  readonly eventId: string;
  readonly process: string;
  readonly fromMs: number;
  happened: boolean;
}

export async function shareParcels(world: World): Promise<SharedParcels> {
  const { clock, random } = world;
  const effects: Effect[] = [];
  const disturbances: { readonly process: string; readonly atMs: number }[] = [];
  const handler = handlerWithoutViews(world);
  const nowMs = (): number => clock.now().getTime();
  let asked = 0;
  await sendToCounter(handler, 'sent', { type: 'Open', label: 'sent' }, 1);

  return {
    reactionsOf: ({ id, eventStore, gate }) => {
      const own = handlerWithoutViews({ clock, random, eventStore });
      const send = makeSendParcels({
        handler: own,
        send: async (event, signal) => {
          const effect = { eventId: event.id, process: id, fromMs: nowMs(), happened: false };
          effects.push(effect);
          await passes(random() * effectMs, signal, gate);
          effect.happened = true;
          // The answer is on its way.
          await passes(random() * effectMs, signal, gate);
        },
      });
      return [send, makeCountParcels({ handler: own })];
    },
    ask: async () => {
      asked += 1;
      const target = { aggregate: parcelAggregate, id: `p${Math.floor(random() * 5)}` };
      await handler.handle(
        target,
        { type: 'Ask', n: asked, expiresAt: null },
        contextOf(asked + 1, clock.now()),
      );
    },
    disturbed: ({ id }) => {
      disturbances.push({ process: id, atMs: nowMs() });
    },
    findProblem: async () => {
      const { events } = await world.eventStore.readAll({ after: null, limit: 1_000_000 });
      const sent = events.filter(({ type }) => type === 'ParcelSent');
      const requests = events.filter(({ type }) => type === 'ParcelAsked');
      if (requests.length !== asked) return `${requests.length} of ${asked} parcels are requested`;
      for (const { id, stream } of requests) {
        const outcomes = sent.filter(({ metadata }) => metadata.causation_id === id).length;
        if (outcomes !== 1) return `${id} in ${stream} has ${outcomes} outcomes`;
        const own = effects.filter(({ eventId }) => eventId === id);
        if (!own.some(({ happened }) => happened)) return `${id} has an outcome without an effect`;
        const repeated = own.slice(0, -1).find((effect) => effect.happened && !isDisturbed(effect));
        if (repeated !== undefined) return `the effect of ${id} was repeated without a cause`;
      }
      const { total } = (await handler.load(counterAggregate, 'sent')).state;
      return total === sent.length ? null : `${total} parcels are counted, and ${sent.length} are sent`;
    },
    sum: () => {
      const happened = effects.filter((effect) => effect.happened);
      const repeated = happened.length - new Set(happened.map(({ eventId }) => eventId)).size;
      return { effects: happened.length, repeated };
    },
  };

  async function passes(ms: number, signal: AbortSignal, gate: () => Promise<void>): Promise<void> {
    await clock.sleep(Math.floor(ms), signal);
    await gate();
  }

  function isDisturbed({ process, fromMs }: Effect): boolean {
    return disturbances.some(
      (one) => one.process === process && one.atMs >= fromMs && one.atMs <= fromMs + concludedMs,
    );
  }
}
