import type { NewEvent, Position } from '../../../event-sourcing/ports/domain-event.js';
import {
  EventTooLarge,
  OutcomeUnknown,
  WrongExpectedRevision,
} from '../../../event-sourcing/ports/errors.js';
import type { Appended, ExpectedRevision } from '../../../event-sourcing/ports/event-store.js';
import type { AppendCall } from './append-call.js';
import { accessDenied } from './failures.js';
import { knownPosition, searchPosition } from '../same-log/positions.js';
import type { Reads } from './reads.js';
import { checkAppended, deleted, type WholeStreams } from '../same-log/whole-streams.js';

/** The target of an append: the stream's name without the prefix and with it. */
interface AppendTarget {
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
export function makeAppend(reads: Reads, streams: Pick<WholeStreams, 'requireUntruncated'>): Append {
  return async (call, target, events, signal) => {
    const reply = await call.send({ ...target, events }, signal);
    switch (reply.kind) {
      case 'written': {
        const { revision } = reply;
        checkAppended(target, events.length, revision);
        return { revision, position: reply.position ?? (await findPosition(target.name, revision, signal)) };
      }
      case 'wrong-expected-revision': {
        const found = await findRepeated(target, { events, signal });
        if (typeof found === 'object') return found;
        // The events that the server compares may be hidden. Otherwise the reader would append at the old revision again.
        if (found === 'none') await streams.requireUntruncated(target.stream, after(target), signal);
        throw new WrongExpectedRevision(target.stream, target.expected);
      }
      case 'unsettled': {
        // The server drops a repetition of an append that it is still writing, and reports a timeout 2 s later.
        const found = await findRepeated(target, { events, signal });
        if (typeof found !== 'object')
          throw new OutcomeUnknown(`the event store did not settle an append: ${reply.reason}`);
        return found;
      }
      case 'deleted':
        throw deleted(target.stream, target.name);
      case 'too-large':
        throw new EventTooLarge('the event store refused an append as too large');
      case 'access-denied':
        throw accessDenied();
    }
  };

  /** Returns where these events are stored already, or whether others are. The server may have lost the ids that it compares. */
  async function findRepeated(
    target: AppendTarget,
    { events, signal }: { readonly events: readonly NewEvent[]; readonly signal: AbortSignal },
  ): Promise<Appended | 'others' | 'none'> {
    const { name } = target;
    const from = after(target);
    const found = await reads.stream(name, { from, limit: events.length }, signal);
    const records = found === 'absent' ? [] : found.records;
    const last = records.at(-1);
    if (last === undefined) return 'none';
    const equal =
      records.length === events.length &&
      records.every(
        ({ id, revision }, index) => id === events[index]?.id && revision === from + BigInt(index),
      );
    if (!equal) return 'others';
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

/** Returns the revision of the first event of the append. */
function after({ expected }: AppendTarget): bigint {
  return expected === 'no-stream' ? 0n : expected + 1n;
}
