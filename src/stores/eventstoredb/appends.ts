import {
  jsonEvent,
  NO_STREAM,
  WrongExpectedVersionError,
  type Credentials,
  type JSONEventData,
  type RecordedEvent,
} from '@eventstore/db-client';
import type { NewEvent, Position } from '../../event-sourcing/domain-event.js';
import { OutcomeUnknown, WrongExpectedRevision } from '../../event-sourcing/errors.js';
import type { Appended, ExpectedRevision } from '../../event-sourcing/event-store.js';
import type { Client } from './client.js';
import { formatPosition, knownPosition, parsePosition } from './positions.js';
import type { Reads } from './reads.js';

/** Records of the log that are looked through at a time for one whose position is not known. */
const searchPage = 500;

export type Append = (
  target: { readonly name: string; readonly stream: string; readonly expected: ExpectedRevision },
  events: readonly NewEvent[],
  signal: AbortSignal,
) => Promise<Appended>;

/**
 * Appends with one gRPC call each. Credentials are given with every call, even where the server ignores them, because
 * that is what keeps the client from its batch path (docs/decisions/0003).
 */
export function makeAppend(
  client: Client,
  deps: { readonly reads: Reads; readonly credentials: Credentials; readonly deadlineMs: number },
): Append {
  const { reads, credentials, deadlineMs } = deps;

  return async ({ name, stream, expected }, events, signal) => {
    try {
      const result = await client.appendToStream(name, events.map(toEventData), {
        expectedRevision: expected === 'no-stream' ? NO_STREAM : expected,
        credentials,
        requiresLeader: true,
        deadline: deadlineMs,
      });
      return {
        revision: result.nextExpectedRevision,
        position:
          knownPosition(result.position) ?? (await findPosition(name, result.nextExpectedRevision, signal)),
      };
    } catch (error) {
      if (!(error instanceof WrongExpectedVersionError)) throw error;
      const repeated = await findRepeated(name, expected, { events, signal });
      if (repeated === null) throw new WrongExpectedRevision(stream, expected);
      return repeated;
    }
  };

  /**
   * Where exactly these events stand already, or null. The server knows repeated ids by itself, unless it lost what it
   * compares them with.
   */
  async function findRepeated(
    name: string,
    expected: ExpectedRevision,
    { events, signal }: { readonly events: readonly NewEvent[]; readonly signal: AbortSignal },
  ): Promise<Appended | null> {
    const from = expected === 'no-stream' ? 0n : expected + 1n;
    const found = await reads.stream(name, { from, limit: events.length }, signal);
    const last: RecordedEvent | undefined = found.at(-1);
    const equal =
      found.length === events.length && found.every((record, index) => record.id === events[index]?.id);
    if (!equal || last === undefined) return null;
    const position = knownPosition(last.position) ?? (await findPosition(name, last.revision, signal));
    return { revision: last.revision, position };
  }

  /**
   * The position of an event, looked for from the end of the log backwards: servers before 22.6 tell positions in
   * reads of the whole log only. What is looked for was written a moment ago, and the caller's time limit bounds it.
   */
  async function findPosition(name: string, revision: bigint, signal: AbortSignal): Promise<Position> {
    let from: Parameters<Reads['all']>[0]['from'] = 'end';
    while (!signal.aborted) {
      const page = await reads.all({ from, limit: searchPage, direction: 'backwards' }, signal);
      const found = page.find((record) => record.streamId === name && record.revision === revision);
      if (found !== undefined) return formatPosition(found.position);
      const last = page.at(-1);
      if (last === undefined) break;
      from = parsePosition(formatPosition(last.position));
    }
    throw new OutcomeUnknown(`the event store does not tell the position of revision ${revision}`);
  }
}

function toEventData({ id, type, data, metadata }: NewEvent): JSONEventData {
  return jsonEvent({ id, type, data, metadata: { ...metadata } });
}
