import type { Quarantined } from '../quarantine.js';
import { countAfter } from '../read-log.js';
import { StoreFull } from '../../ports/errors.js';
import type { Position } from '../../ports/domain-event.js';
import type { AnyView } from '../../views/projection.js';
import { isReached, type ProjectorDeps, type ProjectorProgress, runProjector } from './projector.js';

/** The status of one collection's projector, for readiness and metrics. */
export interface ProjectionStatus extends ProjectorProgress {
  readonly projection: AnyView;
  readonly collection: string;
  readonly state: 'catching-up' | 'live' | 'stopped';
  /** Why the projector stopped: a sentence with type, stream and revision of the event, never its payload. */
  readonly reason: string | null;
  /** Why the last attempt failed; null after one that succeeded. */
  readonly failure: string | null;
}

/** The most events that a stale collection may lack. Lists lack the documents that these events would add. */
const staleEventsMax = 1_000;

/** Runs the projector of one collection in this process. */
export function feedCollection(
  deps: ProjectorDeps,
  options: {
    readonly projection: AnyView;
    readonly collection: string;
    /** The head of the log at the start of the process: the projector is live from there on. */
    readonly startHead: Position | null;
    readonly signal: AbortSignal;
    readonly onRetry: (error: Error, attempt: number) => void;
    readonly onQuarantined: (stream: Quarantined) => void;
    /** Receives the position up to which the projector has read the log. */
    readonly onRead: (position: Position | null) => void;
  },
): { readonly status: () => ProjectionStatus; readonly done: Promise<void> } {
  const { projection, collection, startHead, signal, onRetry, onQuarantined, onRead } = options;
  let status: ProjectionStatus = {
    ...{ projection, collection, state: 'catching-up', reason: null, failure: null },
    ...{ position: null, atHead: false, lastEventAt: null, quarantined: 0 },
  };
  const onProgress = (progress: ProjectorProgress): void => {
    const isLive = status.state === 'live' || isReached(progress.position, startHead);
    // The begin of an attempt is a progress too.
    const hasWritten = progress.atHead || progress.position !== status.position;
    const failure = hasWritten ? null : status.failure;
    status = { ...status, ...progress, failure, state: isLive ? 'live' : 'catching-up' };
    if (progress.atHead) deps.stale?.delete(collection);
  };
  const done = runProjector(
    deps,
    { projection, collection },
    { signal, onProgress, onRetry: retry, onRead, onQuarantined },
  );
  return { status: () => status, done: done.finally(() => deps.stale?.delete(collection)) };

  function retry(error: Error, attempt: number): void {
    status = { ...status, failure: error.message };
    onRetry(error, attempt);
    if (!isForLackOfRoom(error)) return;
    // A failed look has the reason of a failed attempt, and follows the next attempt again.
    void noteIfClose().catch(() => undefined);
  }

  /** Notes a collection as stale that was active before and lacks only the newest events. Readers cannot make up for more. */
  async function noteIfClose(): Promise<void> {
    const { position } = status;
    if (position === null) return;
    const { isAll } = await countAfter(deps.eventStore, position, staleEventsMax);
    if (isAll && status.position === position) deps.stale?.add(collection);
  }
}

/** Tells whether a write failed for lack of room, with a known or an unknown outcome. */
export function isForLackOfRoom(error: Error): boolean {
  return error instanceof StoreFull || error.cause instanceof StoreFull;
}
