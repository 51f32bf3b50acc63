import type { Position } from '../../ports/domain-event.js';
import { type Candidate, feederOf } from './assignment.js';

/** A live process. */
export interface Member extends Candidate {
  /** The parts that it feeds now. */
  readonly feeds: readonly string[];
  /** The position that it awaits in the checkpoints of the views; null when it awaits none. */
  readonly goal: Position | null;
  /** For how many milliseconds events have waited for the parts that it feeds. Parts without a lag are left out. */
  readonly lagsMs: Readonly<Record<string, number>>;
}

/** How far this process is with a part. */
export interface PartProgress {
  /** Null while this process does not feed the part. */
  readonly state: 'running' | 'catching-up' | 'failing' | 'stopped' | null;
  /** For how long the oldest event, or the work, has waited. */
  readonly lagMs: number;
  /** A sentence about the last failure; null without one. */
  readonly problem: string | null;
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
  /** Returns the parts that `declare` has added, also those that this process has withdrawn since. */
  declared(): readonly string[];
  /** Removes a part that this process cannot feed any more. Another process takes it over, for example a newer release. */
  withdraw(part: string): void;
  /** Sets whether this process feeds a part now, for its report to the others. */
  feeding(part: string, isFed: boolean): void;
  /** Sets the function that returns the progress of a part, for operators and for the report to the others. */
  reports(part: string, progress: () => PartProgress): void;
  /** Returns the progress of the parts that `reports` has named. */
  progress(): ReadonlyMap<string, PartProgress>;
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
  let self: Member = { id, parts: [], feeds: [], goal: null, lagsMs: {} };
  let others: readonly Member[] = [];
  const declared = new Set<string>();
  let candidates = '';
  let feeders = new Map<string, string | null>();
  const reporters = new Map<string, () => PartProgress>();

  return {
    id,
    self: () => ({ ...self, lagsMs: lagsMs() }),
    live: () => [self, ...others],
    feederOf: (part) => {
      const known = feeders.get(part);
      if (known !== undefined) return known;
      const feeder = feederOf(part, [self, ...others]);
      feeders.set(part, feeder);
      return feeder;
    },
    declare: (parts) => {
      for (const part of parts) declared.add(part);
      self = { ...self, parts: [...new Set([...self.parts, ...parts])] };
      noteChange();
    },
    declared: () => [...declared],
    withdraw: (part) => {
      self = { ...self, parts: self.parts.filter((own) => own !== part) };
      noteChange();
    },
    feeding: (part, isFed) => {
      const others = self.feeds.filter((fed) => fed !== part);
      self = { ...self, feeds: isFed ? [...others, part] : others };
    },
    reports: (part, progress) => {
      reporters.set(part, progress);
    },
    progress: () => new Map([...reporters].map(([part, progress]) => [part, progress()])),
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

  /** Returns the lags of the parts that this process feeds, without those of 0. */
  function lagsMs(): Readonly<Record<string, number>> {
    const lags = self.feeds.map((part) => [part, Math.round(reporters.get(part)?.().lagMs ?? 0)] as const);
    return Object.fromEntries(lags.filter(([, lagMs]) => lagMs > 0));
  }

  /** Forgets the assignment and calls the listeners, if the processes or their parts have changed. */
  function noteChange(): void {
    const now = JSON.stringify([self, ...others].map(({ id, parts }) => [id, parts]));
    if (now === candidates) return;
    candidates = now;
    feeders = new Map();
    for (const listener of [...listeners]) listener();
  }
}
