import { setMaxListeners } from 'node:events';
import { fingerprintOf, makeLoadOwnCheckpoint } from './checkpoints.js';
import { backoff, type Clock, type Random } from './clock.js';
import type { DomainEvent, LogEvent, Position } from './domain-event.js';
import { StoreUnavailable } from './errors.js';
import type { EventStore, LogPage } from './event-store.js';
import { type AnyReaction, eventFor, type ReactionEvent } from './reaction.js';
import { makeClaims } from './reaction-claims.js';
import { makeLowWaterMark } from './reaction-mark.js';
import { makeTurns } from './reaction-turn.js';
import { makeSlots } from './slots.js';
import type { ReadModelStore } from './read-model-store.js';
import type { StateStore } from './state-store.js';

export interface ReactionDeps {
  readonly eventStore: EventStore;
  /** Keeps the marks: they can be had again from the log, and what is lost with them asks for nothing twice. */
  readonly readModelStore: ReadModelStore;
  /** Keeps the claims. */
  readonly stateStore: StateStore;
  readonly clock: Clock;
  readonly random: Random;
  /** Tells this process from all others, also from the one before it in its place. */
  readonly holder: string;
}

/** What a reaction tells of itself. */
export interface ReactionProgress {
  /** The low-water mark: all that is up to here has its outcome or asks for none. Null at the start of the log. */
  readonly position: Position | null;
  /** How many events have been taken and are not settled. */
  readonly open: number;
  /** When the event at the mark was recorded; null when nothing is open. */
  readonly oldestOpenAt: Date | null;
  /** Whether it stood at the end of the log when it last looked. */
  readonly atHead: boolean;
}

export interface RunningReaction {
  progress(): ReactionProgress;
  /** Ends with the signal. @throws UndecodableEvent, StoreDamaged: the reaction must not go on */
  readonly done: Promise<void>;
}

/** How far the reaction's events may be taken ahead of its mark. */
export const aheadMax = 1_000;
/** How many events are worked on at once, where the reaction does not say. */
const atOnceDefault = 8;
const saveIntervalMs = 1_000;
/** So many events of others are worth saving the mark. */
const passedWorthSaving = 500;
/** What runs when the process ends may finish within this time. */
const graceMs = 5_000;
const retry = { first: 250, cap: 10_000 };

/** The name under which a reaction's mark is kept beside the views' checkpoints. */
export function markName(reaction: Pick<AnyReaction, 'name'>): string {
  return `reaction/${reaction.name}`;
}

/**
 * Runs one reaction from its durable mark on until the signal aborts: takes the events of its types and serves each,
 * later ones while earlier ones wait, at most 1,000 past the mark. A store that is away is waited for.
 */
export function runReaction(
  deps: ReactionDeps,
  reaction: AnyReaction,
  options: {
    readonly signal: AbortSignal;
    readonly onRetry: (error: Error, failures: number) => void;
    readonly aheadMax?: number;
  },
): RunningReaction {
  const { eventStore, readModelStore, clock, random } = deps;
  const { onRetry } = options;
  const limit = options.aheadMax ?? aheadMax;
  const claims = makeClaims(deps, reaction.name);
  const atOnceMax = reaction.atOnceMax ?? atOnceDefault;
  const slots = makeSlots(atOnceMax);
  const ending = new AbortController();
  const cutOff = new AbortController();
  // Every event that waits for its next turn hears of the end; Node takes more than ten for a leak.
  setMaxListeners(limit + 100, ending.signal);
  setMaxListeners(atOnceMax, cutOff.signal);
  const served = new Set<Promise<void>>();
  let mark = makeLowWaterMark(null);
  let saved: Position | null = null;
  let loadedFingerprint: string | undefined;
  let atHead = false;
  let passed = 0;
  let settledSinceSave = false;
  let failure: { readonly error: unknown } | null = null;
  let makeRoom = (): void => undefined;

  return {
    progress: () => ({
      position: mark.position(),
      open: mark.open(),
      oldestOpenAt: mark.oldest()?.recordedAt ?? null,
      atHead,
    }),
    done: run(),
  };

  async function run(): Promise<void> {
    options.signal.addEventListener('abort', end, { once: true });
    if (options.signal.aborted) end();
    const saving = saveEachSecond().catch(fail);
    await follow().catch(fail);
    end();
    options.signal.removeEventListener('abort', end);
    await finishServing();
    await saving;
    // The next start need not look again at what is settled; where it must, it finds so. Saved also where it was before:
    // the read models may have been deleted since.
    saved = null;
    await save().catch(fail);
    if (failure !== null) throw failure.error;
  }

  /** What runs goes on for the grace and is cut off then; its commands have time limits of their own. */
  async function finishServing(): Promise<void> {
    const finished = new AbortController();
    const cut = (): void => {
      cutOff.abort();
    };
    // An aborted wait means that everything had finished in time.
    clock.sleep(graceMs, finished.signal).then(cut, () => undefined);
    await Promise.all(served);
    finished.abort();
  }

  /** The first failure that no repetition cures ends the reaction. */
  function fail(error: unknown): void {
    failure ??= { error };
    end();
  }

  function end(): void {
    ending.abort();
    makeRoom();
  }

  /** Follows the log, from the durable mark at first and from the last event taken after whatever interrupts it. */
  async function follow(): Promise<void> {
    const loadOwnCheckpoint = makeLoadOwnCheckpoint(
      deps,
      markName(reaction),
      `the reaction ${reaction.name}`,
    );
    let started = false;
    for (let attempt = 0; !ending.signal.aborted; attempt += 1) {
      try {
        const { checkpoint } = await loadOwnCheckpoint();
        if (!started) {
          saved = checkpoint?.position ?? null;
          mark = makeLowWaterMark(saved);
          loadedFingerprint = checkpoint?.fingerprint;
          started = true;
        }
        for await (const page of eventStore.subscribe({ after: mark.taken(), signal: ending.signal })) {
          await takePage(page);
          attempt = 0;
        }
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        if (!isEnding()) onRetry(error, attempt);
      }
      // Also after a subscription that ended by itself. An aborted wait ends the loop.
      await clock.sleep(backoff(attempt, random, retry), ending.signal).catch(() => undefined);
    }
  }

  async function takePage(page: LogPage): Promise<void> {
    atHead = false;
    for (const stored of page.events) {
      const event = eventFor(reaction, stored);
      if (event === null) {
        mark.pass({ position: stored.position, lastEvent: stored });
        continue;
      }
      while (mark.ahead() >= limit && !isEnding()) {
        await new Promise<void>((resolve) => {
          makeRoom = resolve;
        });
      }
      if (isEnding()) return;
      take(stored, event);
    }
    if (page.cursor !== null) mark.pass({ position: page.cursor });
    passed += page.events.length;
    atHead = page.atHead;
  }

  function take(stored: LogEvent, event: ReactionEvent<DomainEvent>): void {
    mark.take({ position: stored.position, lastEvent: stored }, event);
    const serving = serve(event)
      .catch(fail)
      .finally(() => served.delete(serving));
    served.add(serving);
  }

  /** Turn by turn until the event is settled. Between turns others are served. */
  async function serve(event: ReactionEvent<DomainEvent>): Promise<void> {
    const turn = makeTurns({ ...deps, reaction, claims, cutOff: cutOff.signal, onRetry }, event);
    while (!isEnding()) {
      const ended = await slots(async () => (isEnding() ? { againInMs: 0 } : turn()));
      if (ended === 'settled') {
        mark.settle(event);
        settledSinceSave = true;
        makeRoom();
        return;
      }
      // An aborted wait ends the loop.
      await clock.sleep(ended.againInMs, ending.signal).catch(() => undefined);
    }
  }

  async function saveEachSecond(): Promise<void> {
    while (!isEnding()) {
      await clock.sleep(saveIntervalMs, ending.signal).catch(() => undefined);
      if (settledSinceSave || passed >= passedWorthSaving) await save();
    }
  }

  async function save(): Promise<void> {
    const position = mark.position();
    if (position === null || position === saved) return;
    const lastEvent = mark.lastEvent();
    const fingerprint = lastEvent === null ? loadedFingerprint : fingerprintOf(lastEvent);
    try {
      const logId = await eventStore.logId();
      await readModelStore.saveCheckpoint(markName(reaction), {
        logId,
        position,
        ...(fingerprint === undefined ? {} : { fingerprint }),
      });
      saved = position;
      passed = 0;
      settledSinceSave = false;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      onRetry(error, 0);
    }
  }

  function isEnding(): boolean {
    return ending.signal.aborted;
  }
}
