import type { Random } from '../../../src/kit/time/clock.js';
import { OutcomeUnknown } from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';

/** An append has five attempts. More losses of one append would end in 503, which is correct but not under test. */
const lossesMax = 2;

/**
 * Makes an event store that sometimes loses its answer: the append has happened or not, and the caller does not learn
 * which.
 * @param options.share the share of the appends whose answer is lost; half of these do not happen
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
