import type { DomainEvent, LogEvent, Position } from '../../../../src/event-sourcing/ports/domain-event.js';
import { logOf } from '../../given/log.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import {
  type AnyReaction,
  contextFor,
  eventFor,
  type ReactionEvent,
} from '../../../../src/event-sourcing/effects/reaction.js';

interface Owed {
  readonly reaction: AnyReaction;
  readonly event: ReactionEvent<DomainEvent>;
}

/**
 * Makes the turns that reactions owe to the events of a log, for histories that choose when each is taken, and a view that
 * lags behind the log.
 * @param reactions returns the reactions of the process that runs now
 */
export function makeOwedTurns(
  eventStore: Pick<EventStore, 'readAll' | 'head'>,
  reactions: () => readonly AnyReaction[],
) {
  const wholeLog = () => logOf({ eventStore });
  let owed: readonly Owed[] = [];
  let taken = 0;
  let seen: Position | null = null;
  let viewAt: Position | null = null;

  return {
    wholeLog,
    takeNew,
    turn,
    showAll,
    serveAll,
    owed: () => owed,
    shows: (position: Position): boolean => viewAt !== null && viewAt >= position,
    /** Returns the events that the view shows. */
    shown: async () => (await wholeLog()).filter(({ position }) => viewAt !== null && position <= viewAt),
    /** Lets the view show some more events. */
    showMore: async (pick: (unseen: readonly LogEvent[]) => LogEvent | undefined): Promise<void> => {
      const unseen = (await wholeLog()).filter(({ position }) => viewAt === null || position > viewAt);
      viewAt = pick(unseen)?.position ?? viewAt;
    },
    /** Makes the reactions handle every event again. */
    loseCheckpoint: (): Promise<void> => {
      owed = [];
      seen = null;
      return Promise.resolve();
    },
    /** Shows and serves until no turn is left that anything comes of. */
    settle: async (): Promise<void> => {
      for (let before = -1; before !== taken;) {
        before = taken;
        await showAll();
        await serveAll();
      }
    },
  };

  async function showAll(): Promise<void> {
    viewAt = (await eventStore.head()) ?? viewAt;
  }

  async function takeNew(): Promise<void> {
    for (const stored of await wholeLog()) {
      if (seen !== null && stored.position <= seen) continue;
      seen = stored.position;
      for (const reaction of reactions()) {
        const event = eventFor(reaction, stored);
        if (event !== null) owed = [...owed, { reaction, event }];
      }
    }
  }

  async function turn(one: Owed): Promise<void> {
    const { event } = one;
    const reaction = reactions().find(({ name }) => name === one.reaction.name) ?? one.reaction;
    const asked = await reaction.asks(event);
    if (asked === 'not-yet') return;
    if (asked === 'yes') await reaction.conclude(event, contextFor(reaction, event), undefined);
    owed = owed.filter((other) => other !== one);
    taken += 1;
  }

  async function serveAll(): Promise<void> {
    await takeNew();
    for (const one of owed) await turn(one);
  }
}
