import type { NewEvent, Position } from '../../../event-sourcing/ports/domain-event.js';
import {
  EventTooLarge,
  OutcomeUnknown,
  WrongExpectedRevision,
} from '../../../event-sourcing/ports/errors.js';
import type { Appended, ExpectedRevision } from '../../../event-sourcing/ports/event-store.js';
import type { AppendCall } from './append-call.js';
import { accessDenied } from './failures.js';
import { searchPosition } from '../same-log/position-search.js';
import { knownPosition } from '../same-log/positions.js';
import type { Reads } from './reads.js';
import { checkAppended, deleted } from '../same-log/whole-streams.js';

/** The target of an append: the stream's name without the prefix and with it. */
export interface AppendTarget {
  readonly stream: string;
  readonly name: string;
  readonly expected: ExpectedRevision;
}

export type Append = (
  call: AppendCall,
  target: AppendTarget,
  events: readonly NewEvent[],
  signal: AbortSignal,
) => Promise<Appended>;

/** Makes the function that sends an append, and finds out by reads what the server's answer leaves open. */
export function makeAppend(reads: Reads): Append {
  return async (call, target, events, signal) => {
    const reply = await call.send({ ...target, events }, signal);
    switch (reply.kind) {
      case 'written': {
        const { revision } = reply;
        checkAppended(target, events.length, revision);
        return { revision, position: reply.position ?? (await findPosition(target.name, revision, signal)) };
      }
      case 'wrong-expected-revision': {
        const repeated = await findRepeated(target, { events, signal });
        if (repeated === null) throw new WrongExpectedRevision(target.stream, target.expected);
        return repeated;
      }
      case 'unsettled': {
        // The server drops a repetition of an append that it is still writing, and reports a timeout 2 s later.
        const repeated = await findRepeated(target, { events, signal });
        if (repeated === null)
          throw new OutcomeUnknown(`the event store did not settle an append: ${reply.reason}`);
        return repeated;
      }
      case 'deleted':
        throw deleted(target.stream, target.name);
      case 'too-large':
        throw new EventTooLarge('the event store refused an append as too large');
      case 'access-denied':
        throw accessDenied();
    }
  };

  /** Returns where these events are stored already, or null. The server may have lost the ids that it compares. */
  async function findRepeated(
    { name, expected }: AppendTarget,
    { events, signal }: { readonly events: readonly NewEvent[]; readonly signal: AbortSignal },
  ): Promise<Appended | null> {
    const from = expected === 'no-stream' ? 0n : expected + 1n;
    const found = await reads.stream(name, { from, limit: events.length }, signal);
    if (found === 'absent') return null;
    const { records } = found;
    const last = records.at(-1);
    const equal =
      records.length === events.length &&
      records.every(
        ({ id, revision }, index) => id === events[index]?.id && revision === from + BigInt(index),
      );
    if (!equal || last === undefined) return null;
    const position = knownPosition(last.position) ?? (await findPosition(name, last.revision, signal));
    return { revision: last.revision, position };
  }

  /** The event is recent, so the search is short. @throws OutcomeUnknown when it does not find the event */
  async function findPosition(name: string, revision: bigint, signal: AbortSignal): Promise<Position> {
    const position = await searchPosition(reads, { name, revision }, signal);
    if (position !== null) return position;
    throw new OutcomeUnknown(`the event store does not give the position of revision ${revision}`);
  }
}
