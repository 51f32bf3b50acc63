import { backoff, type Clock, type Random } from '../../../kit/time/clock.js';
import type { Position } from '../../../event-sourcing/ports/domain-event.js';
import { StoreDamaged, StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import { makeShortLog } from '../../../event-sourcing/feeding/read-log.js';
import { isInsideRecord, readFailure } from '../calls/failures.js';
import { formatPosition, knownPosition, parsePosition, searchPosition } from './positions.js';
import type { Reads } from '../calls/reads.js';
import { replaced } from './same-log.js';

/** An event that the log is known to hold; `name` is its stream's full name. */
interface KnownEvent {
  readonly name: string;
  readonly revision: bigint;
  readonly id: string;
  readonly position: Position;
}

/** Checks that the server still has the log that this process knows: src/stores/eventstoredb/README.md#the-same-log. */
export type LogGuard = ReturnType<typeof makeLogGuard>;

export function makeLogGuard(deps: {
  readonly reads: Reads;
  /** Reads the stored id of the log; null when it has none. */
  readonly storedLogId: (signal: AbortSignal) => Promise<string | null>;
  readonly clock: Clock;
  readonly random: Random;
  /** Runs a call within the time limit of calls. */
  readonly withinLimit: <T>(run: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  readonly shortLogMs: number;
  /** Receives the damage once. The process must end, because the server has another log. */
  readonly onFatal: (error: StoreDamaged) => void;
}) {
  const { reads, clock } = deps;
  const shortLog = makeShortLog({ clock, waitMs: deps.shortLogMs });
  const stopping = new AbortController();
  let logId: string | null = null;
  let last: KnownEvent | null = null;
  /**
   * The last known event when a connection was lost, until a check has succeeded. A reader that is behind may read an
   * exchanged log before the check, and `last` is then an event of that log.
   */
  let suspicion: { readonly last: KnownEvent | null } | null = null;
  let damage: StoreDamaged | null = null;
  let verifying = false;
  let suspectedAgain = false;

  return {
    /** Notes the id that this process has read, or has written itself. */
    identified: (id: string) => {
      logId ??= id;
    },
    /** Notes an event that was read or whose append was acknowledged. The guard keeps the last one in the log. */
    holds: (event: KnownEvent) => {
      if (last === null || event.position > last.position) last = event;
    },
    /** Reads the log's id and the last known event. @throws StoreDamaged; StoreUnavailable while the log may be late */
    verify,
    /** Reports that a connection may have been lost. Verifies in the background until the log answers. */
    suspect: () => {
      suspectedAgain = true;
      // A new object, because a check that began earlier does not settle this suspicion.
      suspicion = { last: suspicion === null ? last : suspicion.last };
      if (!verifying && !stopping.signal.aborted) void verifyUntilAnswered();
    },
    stop: () => stopping.abort(),
  };

  async function verifyUntilAnswered(): Promise<void> {
    verifying = true;
    const stopped = (): boolean => stopping.signal.aborted;
    for (let attempt = 0; suspectedAgain && damage === null && !stopped(); attempt += 1) {
      suspectedAgain = false;
      try {
        await deps.withinLimit(verify);
      } catch {
        // The server is away, or has ended the process. Later calls and the end of the process report it.
        suspectedAgain = true;
        await clock
          .sleep(backoff(attempt, deps.random, { first: 250, cap: 1_000 }), stopping.signal)
          .catch(() => undefined);
      }
    }
    verifying = false;
  }

  async function verify(signal: AbortSignal): Promise<void> {
    if (damage !== null) throw damage;
    try {
      const checked = suspicion;
      const known = { logId, last: checked === null ? last : checked.last };
      const findings = await Promise.allSettled([
        verifyId(known.logId, signal),
        verifyLast(known.last, signal),
      ]);
      // The id comes first: another id is damage at once, while a missing event may wait.
      for (const finding of findings) if (finding.status === 'rejected') throw finding.reason as Error;
      shortLog.whole();
      if (suspicion === checked) suspicion = null;
    } catch (error) {
      const failure = readFailure(error);
      if (failure instanceof StoreDamaged) fail(failure);
      throw failure;
    }
  }

  function fail(error: StoreDamaged): void {
    if (damage !== null || stopping.signal.aborted) return;
    damage = error;
    deps.onFatal(error);
  }

  async function verifyId(known: string | null, signal: AbortSignal): Promise<void> {
    if (known === null) return;
    const found = await deps.storedLogId(signal);
    if (found === known) return;
    const finding =
      found === null
        ? 'that log is empty or another application replaced it'
        : `it now holds the log ${found}`;
    throw new StoreDamaged(
      `this process has followed the log ${known} on the EventStoreDB server, but ${finding}: configure the log it ` +
        'belongs to, or stop the service, delete the read models and start again',
    );
  }

  async function verifyLast(known: KnownEvent | null, signal: AbortSignal): Promise<void> {
    if (known === null) return;
    try {
      const page = { from: parsePosition(known.position), limit: 1, direction: 'forwards' } as const;
      const [first] = (await reads.all(page, signal)).records;
      if (first === undefined) throw endsBefore(known);
      if (formatPosition(first.position) !== known.position || first.id !== known.id)
        throw replaced(known.position, 'another record is there');
    } catch (error) {
      if (!isInsideRecord(error)) throw error;
      await verifyInStream(known, signal);
    }
  }

  /**
   * Servers before 24.2 give any failed read of the log the text of a position inside a record. The stream decides: an
   * older log lacks the event, or has it at another position, where a writer has repeated its append. A log with the
   * event in its place is the same one, and cannot be read now.
   */
  async function verifyInStream(known: KnownEvent, signal: AbortSignal): Promise<void> {
    const found = await reads.stream(known.name, { from: known.revision, limit: 1 }, signal);
    const [event] = found === 'absent' ? [] : found.records;
    if (event?.id !== known.id) throw replaced(known.position, 'no record begins there');
    const position = knownPosition(event.position) ?? (await searchPosition(reads, known, signal));
    if (position !== null && position !== known.position)
      throw replaced(known.position, 'the event from there is at another position');
    throw new StoreUnavailable(`the event store cannot read its log at ${known.position}`);
  }

  function endsBefore({ position }: KnownEvent): Error {
    if (shortLog.isLasting()) return replaced(position, 'the log ends before it');
    return new StoreUnavailable(`the event store's log ends before ${position}, which it had reached before`);
  }
}
