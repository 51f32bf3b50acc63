import { setMaxListeners } from 'node:events';
import { makeCheckpointSaver, makeLoadOwnCheckpoint, saveWhileChanged } from '../feeding/checkpoints.js';
import { type Quarantined, type QuarantineNote, makeQuarantine, referenceTo } from '../feeding/quarantine.js';
import { followLog } from '../feeding/follow-log.js';
import type { Clock, Random } from '../../kit/time/clock.js';
import type { DomainEvent, LogEvent, Position } from '../ports/domain-event.js';
import { StoreUnavailable } from '../ports/errors.js';
import type { EventStore, LogPage } from '../ports/event-store.js';
import { type AnyReaction, concerns, eventFor, type ReactionEvent } from './reaction.js';
import { makeClaims } from './reaction-claims.js';
import { makeTakenEvents, takeBackEvent } from './take-back.js';
import { makeReactionTimers } from './reaction-timers.js';
import { type AccountPermit, makeReactionTurn, type Served, type Turn } from './reaction-turn.js';
import { serveTimers, timersServedMax } from './serve-timers.js';
import { makeKeyedSemaphore, makeSemaphore, Overloaded } from '../../kit/semaphore.js';
import type { ReadModelStore } from '../ports/read-model-store.js';
import type { StateStore } from '../ports/state-store.js';
import { loadCheckpoint } from '../ports/records.js';

export interface ReactionDeps {
  readonly eventStore: EventStore;
  /** Stores the checkpoints and what is quarantined. After their loss the reaction reads the log again and repeats no outcome. */
  readonly readModelStore: ReadModelStore;
  /** Stores the claims. */
  readonly stateStore: StateStore;
  readonly clock: Clock;
  readonly random: Random;
  /** The sleep before a retry, which may end early; by default that of the clock. */
  readonly sleepUntilRetry?: Clock['sleep'];
  /** An id of this process, which a restart changes. */
  readonly holder: string;
}

export interface ReactionProgress {
  /** The checkpoint: every event up to it has its outcome or needs none. Null at the start of the log. */
  readonly position: Position | null;
  /** The count of events that are taken and not settled. */
  readonly open: number;
  /** The recorded time of the first open event; null when none is open. */
  readonly oldestOpenAt: Date | null;
  /** Whether the last page reached the end of the log. */
  readonly atHead: boolean;
  /** The count of events that the reaction has quarantined. */
  readonly quarantined: number;
}

/** Events that the reaction may take after its checkpoint. */
export const aheadMax = 1_000;
/** With accounts it takes ten times as many, because the first one may wait for its account. At most `aheadMax` are unsettled. */
const aheadOfAccounts = 10;
/** More events than these are no exception: the reaction stops instead. One stream may hold some hundred. */
export const quarantinedMax = 1_000;
const atOnceDefault = 8;
/** Events of one account that wait in memory for a permit. */
const waitingMax = 100;
/** The time in which running turns may finish when the process ends. */
const graceMs = 5_000;

/** Returns the name of a reaction's checkpoint among the checkpoints of the views. */
export function reactionCheckpoint(reaction: Pick<AnyReaction, 'name'>): string {
  return `reaction/${reaction.name}`;
}

/**
 * Runs one reaction from its durable checkpoint until the signal aborts. It takes at most 1,000 events after the checkpoint, and
 * serves later ones while earlier ones wait. Retries while a store is unavailable.
 */
export function runReaction(
  deps: ReactionDeps,
  reaction: AnyReaction,
  options: {
    readonly signal: AbortSignal;
    readonly onRetry: (error: Error, failures: number) => void;
    readonly onQuarantined: (event: Quarantined) => void;
    readonly aheadMax?: number;
  },
) {
  const { eventStore, readModelStore, clock, random } = deps;
  const sleepUntilRetry = deps.sleepUntilRetry ?? ((ms: number, end: AbortSignal) => clock.sleep(ms, end));
  const { onRetry, onQuarantined } = options;
  const limit = options.aheadMax ?? aheadMax;
  const aheadLimit = reaction.account === undefined ? limit : aheadOfAccounts * limit;
  const claims = makeClaims(deps, reaction.name);
  const timers = makeReactionTimers(deps, reaction);
  const quarantine = makeQuarantine(readModelStore, {
    owner: reactionCheckpoint(reaction),
    itemsMax: quarantinedMax,
    onQuarantined,
  });
  const atOnceMax = reaction.atOnceMax ?? atOnceDefault;
  const semaphore = makeSemaphore(atOnceMax);
  const permits = makeKeyedSemaphore({ permits: Math.ceil(atOnceMax / 8), waitingMax });
  const ending = new AbortController();
  const cutOff = new AbortController();
  // Each waiting event and each effect listens; above ten listeners Node warns of a leak.
  setMaxListeners(limit + quarantinedMax + timersServedMax + 100, ending.signal);
  setMaxListeners(atOnceMax, cutOff.signal);
  const running = new Set<Promise<void>>();
  /** By event, which the log, a timer and a quarantine record may name at once. A claim does not keep out its own process. */
  const serving = new Map<string, Promise<Served>>();
  let taken = makeTakenEvents(null);
  const saver = makeCheckpointSaver(deps, reactionCheckpoint(reaction));
  const saving = saveWhileChanged(clock, () => save(), { signal: ending.signal, onFailed: fail });
  let atHead = false;
  let failure: { readonly error: unknown } | null = null;
  let makeRoom = (): void => undefined;

  return {
    progress: (): ReactionProgress => ({
      position: taken.position(),
      open: taken.open(),
      oldestOpenAt: taken.oldest()?.recordedAt ?? null,
      atHead,
      quarantined: quarantine.count(),
    }),
    /** Resolves after the signal aborts. @throws StoreDamaged, or the error of an event too many: the reaction must stop */
    done: run(),
  };

  async function run(): Promise<void> {
    options.signal.addEventListener('abort', end, { once: true });
    if (options.signal.aborted) end();
    const timing = reaction.hasTimers === true ? serveOwnTimers().catch(fail) : undefined;
    await follow().catch(fail);
    end();
    options.signal.removeEventListener('abort', end);
    await finishServing();
    await Promise.all([saving.done.catch(fail), timing]);
    // The next start then skips settled events. An unmoved checkpoint is saved too: the read models may have been deleted.
    await save(true).catch(fail);
    if (failure !== null) throw failure.error;
  }

  /** Lets running turns finish within the grace, then cuts their effects off. Commands have separate time limits. */
  async function finishServing(): Promise<void> {
    const finished = new AbortController();
    const cut = (): void => cutOff.abort();
    // An abort means that all turns finished in time.
    clock.sleep(graceMs, finished.signal).then(cut, () => undefined);
    await Promise.all(running);
    finished.abort();
  }

  /** Ends the reaction with its first failure that no retry cures. */
  function fail(error: unknown): void {
    failure ??= { error };
    end();
  }

  function end(): void {
    ending.abort();
    makeRoom();
  }

  /** Follows the log from the durable checkpoint; after an interruption, from the last position that it has taken. */
  function follow(): Promise<void> {
    const load = () => loadCheckpoint(readModelStore, reactionCheckpoint(reaction));
    const loadOwnCheckpoint = makeLoadOwnCheckpoint({ ...deps, load }, `the reaction ${reaction.name}`);
    let started = false;
    return followLog(deps, {
      signal: ending.signal,
      onRetry,
      begin: async (_, progressed) => {
        const { checkpoint } = await loadOwnCheckpoint();
        if (!started) {
          saver.begin(checkpoint);
          taken = makeTakenEvents(checkpoint?.position ?? null);
          for (const record of await quarantine.load()) startServing(takeBack(record));
          started = true;
        }
        const take = (page: LogPage): Promise<void> => takePage(page).then(progressed);
        return { after: taken.taken(), take };
      },
    });
  }

  async function takePage(page: LogPage): Promise<void> {
    atHead = false;
    let skipped: LogEvent | null = null;
    const passSkipped = (): void => {
      if (skipped !== null) taken.pass({ position: skipped.position, lastEvent: skipped });
      skipped = null;
    };
    for (const stored of page.events) {
      // Most events are of no concern, so none of these costs a turn of the event loop.
      const event = concerns(reaction, stored)
        ? await quarantine.attempt(stored.id, () => eventFor(reaction, stored), referenceTo(stored))
        : null;
      if (event === null) {
        skipped = stored;
        continue;
      }
      passSkipped();
      while ((taken.open() >= limit || taken.ahead() >= aheadLimit) && !isEnding()) {
        await new Promise<void>((resolve) => {
          makeRoom = resolve;
        });
      }
      if (isEnding()) return;
      take(stored, event);
    }
    passSkipped();
    if (page.cursor !== null) taken.pass({ position: page.cursor });
    atHead = page.atHead;
    saving.changed();
  }

  function take(stored: LogEvent, event: ReactionEvent<DomainEvent>): void {
    taken.take({ position: stored.position, lastEvent: stored }, event);
    startServing(serve(event));
  }

  function serveOwnTimers(): Promise<void> {
    return serveTimers({
      ...{ timers, quarantine, clock, sleepUntilRetry, onRetry, signal: ending.signal },
      ...{ serve, start: startServing },
    });
  }

  function takeBack(record: QuarantineNote): Promise<void> {
    return takeBackEvent(
      {
        ...{ reaction, eventStore, quarantine, semaphore, random, sleepUntilRetry, serve, onRetry },
        signal: ending.signal,
      },
      record,
    );
  }

  /** The process waits for this work when it ends. */
  function startServing(work: Promise<unknown>): void {
    const guarded: Promise<void> = work.then(() => undefined, fail).finally(() => running.delete(guarded));
    running.add(guarded);
  }

  async function serve(event: ReactionEvent<DomainEvent>): Promise<Served> {
    const { id } = event;
    const served = serving.get(id) ?? serveTurns(event).finally(() => serving.delete(id));
    serving.set(id, served);
    const ended = await served;
    if (ended === 'ended') return ended;
    taken.settle(event);
    saver.changed();
    saving.changed();
    makeRoom();
    return ended;
  }

  /** Serves an event turn by turn until it is settled or quarantined. Other events are served between its turns. */
  async function serveTurns(event: ReactionEvent<DomainEvent>): Promise<Served> {
    const turn = makeReactionTurn(
      { ...deps, reaction, claims, timers, quarantine, cutOff: cutOff.signal, onRetry },
      event,
    );
    const take = (permit: AccountPermit): Promise<Turn> =>
      semaphore.run(async () => (isEnding() ? { againInMs: 0 } : turn(permit)));
    while (!isEnding()) {
      const asked = await take('none');
      const ended = asked === 'needs-permit' ? await withPermit(event, take) : asked;
      if (ended === 'settled' || ended === 'quarantined') return ended;
      // An abort ends the loop.
      const waitMs = typeof ended === 'object' ? ended.againInMs : 0;
      await sleepUntilRetry(waitMs, ending.signal).catch(() => undefined);
    }
    return 'ended';
  }

  /** Waits for the account outside of the semaphore, so that it holds up no others. */
  async function withPermit(
    event: ReactionEvent<DomainEvent>,
    take: (permit: AccountPermit) => Promise<Turn>,
  ): Promise<Turn> {
    // The turn meets the error of a stream that cannot be read.
    const account = (await reaction.account?.(event).catch(() => null)) ?? event.stream;
    try {
      return await permits.run(account, () => take('taken'));
    } catch (error) {
      if (!(error instanceof Overloaded)) throw error;
      return take('full');
    }
  }

  /** @returns whether all is saved */
  async function save(isLast = false): Promise<boolean> {
    const processed = { position: taken.position(), lastEvent: taken.lastEvent() };
    try {
      if (!isLast) return await saver.saveIfDue(processed, { atHead });
      await saver.save(processed, true);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      onRetry(error, 0);
    }
    return false;
  }

  function isEnding(): boolean {
    return ending.signal.aborted;
  }
}
