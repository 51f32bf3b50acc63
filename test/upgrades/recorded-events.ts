import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  type DomainEvent,
  type JsonObject,
  type NewEvent,
  type StoredEvent,
  parseStreamName,
} from '../../src/event-sourcing/ports/domain-event.js';
import type { EventCodec } from '../../src/event-sourcing/ports/event-codec.js';
import { codecs } from '../support/examples/every-event.js';

/** An event as the release wrote it. */
export interface RecordedEvent extends NewEvent {
  readonly stream: string;
  readonly revision: number;
  readonly recordedAt: string;
}

type Codecs = Readonly<Record<string, EventCodec<DomainEvent>>>;

/** Reads a file of one JSON value a line. The caller names the type of a line. */
export function readLines(folder: string, name: string): readonly unknown[] {
  return readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
}

/** Returns every event that the release has recorded: of its story, and an example of each type. */
export function recordedEvents(
  folder: string,
): readonly { readonly category: string; readonly type: string; readonly data: JsonObject }[] {
  return [
    ...(readLines(folder, 'log.jsonl') as readonly RecordedEvent[]).map(({ stream, type, data }) => ({
      ...{ category: parseStreamName(stream)?.category ?? '', type, data },
    })),
    ...(readLines(folder, 'examples.jsonl') as ReturnType<typeof recordedEvents>),
  ];
}

/** Returns which of the recorded events this build does not read as they were written. */
export function problemsOf(
  events: ReturnType<typeof recordedEvents>,
  given: Codecs = codecs,
): readonly string[] {
  return events.flatMap(({ category, type, data }) => {
    const codec = given[category];
    if (codec === undefined) return [`no aggregate has streams ${category}-…`];
    const metadata = { command_id: '', causation_id: '', correlation_id: '', actor: '', time: '' };
    const stored: StoredEvent = {
      ...{ id: '', type, data, metadata, stream: `${category}-1`, revision: 0n, recordedAt: new Date(0) },
    };
    try {
      const decoded = codec.decode(stored);
      // An upcaster may make another event of it. A type that stays keeps every field.
      return decoded.type !== type || keeps(decoded.data, data) ? [] : [`${type} loses a field`];
    } catch (error) {
      return [(error as Error).message];
    }
  });
}

/** Tells whether a value has all of a recorded one, in the same places. */
function keeps(value: unknown, recorded: unknown): boolean {
  if (typeof recorded !== 'object' || recorded === null || Array.isArray(recorded))
    return isDeepStrictEqual(value, recorded);
  return Object.entries(recorded).every(([name, part]) =>
    keeps((value as Readonly<Record<string, unknown>> | null)?.[name], part),
  );
}
