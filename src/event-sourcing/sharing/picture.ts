import type { Position } from '../ports/domain-event.js';
import { type Candidate, feederOf } from './assignment.js';

/** A live process. */
export interface Member extends Candidate {
  /** The parts that it feeds now. */
  readonly feeds: readonly string[];
  /** The position that it awaits in the checkpoints of the views; null when it awaits none. */
  readonly goal: Position | null;
}

/** The live processes, as this process last saw them. */
export interface Picture {
  /** An id of this process, which a restart changes. */
  readonly id: string;
  /** Returns the live processes, this one included. */
  live(): readonly Member[];
  /** Returns the id of the process that feeds the part; null when none can. */
  feederOf(part: string): string | null;
  /** Adds parts that this process can feed. */
  declare(parts: readonly string[]): void;
  /** Removes a part that this process cannot feed any more. Another process takes it over, for example a newer release. */
  withdraw(part: string): void;
  /** Sets whether this process feeds a part now, for its report to the others. */
  feeding(part: string, isFed: boolean): void;
  /** Calls the listener when parts may have moved. @returns a function that removes it */
  onChange(listener: () => void): () => void;
}

export interface OwnPicture extends Picture {
  self(): Member;
  awaits(goal: Position | null): void;
  /** Replaces the other processes. */
  see(others: readonly Member[]): void;
}

export function makePicture(id: string): OwnPicture {
  const listeners = new Set<() => void>();
  let self: Member = { id, parts: [], feeds: [], goal: null };
  let others: readonly Member[] = [];
  let candidates = '';
  let feeders = new Map<string, string | null>();

  return {
    id,
    self: () => self,
    live: () => [self, ...others],
    feederOf: (part) => {
      const known = feeders.get(part);
      if (known !== undefined) return known;
      const feeder = feederOf(part, [self, ...others]);
      feeders.set(part, feeder);
      return feeder;
    },
    declare: (parts) => {
      self = { ...self, parts: [...new Set([...self.parts, ...parts])] };
      noteChange();
    },
    withdraw: (part) => {
      self = { ...self, parts: self.parts.filter((own) => own !== part) };
      noteChange();
    },
    feeding: (part, isFed) => {
      const others = self.feeds.filter((fed) => fed !== part);
      self = { ...self, feeds: isFed ? [...others, part] : others };
    },
    awaits: (goal) => {
      self = { ...self, goal };
    },
    see: (seen) => {
      others = seen;
      noteChange();
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };

  /** Forgets the assignment and calls the listeners, if the processes or their parts have changed. */
  function noteChange(): void {
    const now = JSON.stringify([self, ...others].map((member) => [member.id, member.parts]));
    if (now === candidates) return;
    candidates = now;
    feeders = new Map();
    for (const listener of [...listeners]) listener();
  }
}
