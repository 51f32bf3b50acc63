import type { Random } from '../../src/event-sourcing/clock.js';
import { OutcomeUnknown } from '../../src/event-sourcing/errors.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';

/** Three tries is what an append gets; more losses of one would end in 503, which is right but not what is looked at. */
const lossesMax = 2;

/**
 * An event store whose answers get lost now and then: the append has happened, or has not, and the caller is told neither.
 * @param share of the appends whose answer is lost, half of them without having happened
 */
export function loseAnswers(
  eventStore: EventStore,
  { random, share }: { readonly random: Random; readonly share: number },
): EventStore & { readonly lost: () => number } {
  const losses = new Map<string, number>();
  let lost = 0;
  return {
    ...eventStore,
    lost: () => lost,
    append: async (stream, expected, events, options) => {
      const id = events[0]?.id ?? '';
      const before = losses.get(id) ?? 0;
      const draw = random();
      if (draw > share || before >= lossesMax) return eventStore.append(stream, expected, events, options);
      if (draw < share / 2) await eventStore.append(stream, expected, events, options);
      losses.set(id, before + 1);
      lost += 1;
      throw new OutcomeUnknown('the answer was lost');
    },
  };
}
