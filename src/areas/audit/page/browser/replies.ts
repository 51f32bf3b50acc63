import type { ShownEvent } from './entry.js';

/** One item of the list of events. `words` and `projectId` explain the event; no leaf covers them. */
export interface ShownItem {
  readonly index: number;
  readonly words: string;
  readonly projectId: string | null;
  readonly event: ShownEvent;
}

type ShownPage = { readonly items: readonly ShownItem[]; readonly nextCursor: string | null };

/** A stream's documents as they stood after an event. */
export interface ShownStream {
  /** The last event of the log that counts. */
  readonly index: number;
  readonly revision: number;
  readonly views: Readonly<Record<string, unknown>>;
}

/** How the log stands, as the service reports it. */
export interface ShownStatus {
  readonly size: number;
  readonly signedSize: number;
  readonly signedAt: string | null;
  readonly vkeys: readonly string[];
  readonly witnesses: readonly {
    readonly name: string;
    readonly size: number;
    readonly problem: string | null;
  }[];
  readonly contradiction: {
    readonly foundAt: string;
    readonly source: string;
    readonly what: string;
    readonly size: number;
  } | null;
  readonly problem: string | null;
  readonly sweep: {
    readonly running: { readonly done: number; readonly of: number } | null;
    readonly finishedAt: string | null;
    readonly size: number;
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** @throws Error when the reply has another form, as all functions here */
export function pageOfReply(reply: unknown): ShownPage {
  const fields = fieldsOf(reply);
  return { items: listIn(fields, 'items').map(itemOf), nextCursor: textOrNull(fields, 'next_cursor') };
}

export function streamOfReply(reply: unknown): ShownStream {
  const fields = fieldsOf(reply);
  return {
    ...{ index: countIn(fields, 'index'), revision: countIn(fields, 'revision') },
    views: fieldsOf(fields['views']),
  };
}

export function statusOfReply(reply: unknown): ShownStatus {
  const fields = fieldsOf(reply);
  const sweep = fieldsOf(fields['sweep']);
  const running = sweep['running'] === null ? null : fieldsOf(sweep['running']);
  const found = fields['contradiction'] === null ? null : fieldsOf(fields['contradiction']);
  return {
    ...{ size: countIn(fields, 'size'), signedSize: countIn(fields, 'signed_size') },
    signedAt: textOrNull(fields, 'signed_at'),
    vkeys: listIn(fields, 'vkeys').map(String),
    witnesses: listIn(fields, 'witnesses').map((witness) => {
      const one = fieldsOf(witness);
      return { name: textIn(one, 'name'), size: countIn(one, 'size'), problem: textOrNull(one, 'problem') };
    }),
    contradiction:
      found === null
        ? null
        : {
            ...{ foundAt: textIn(found, 'found_at'), source: textIn(found, 'source') },
            ...{ what: textIn(found, 'what'), size: countIn(found, 'size') },
          },
    problem: textOrNull(fields, 'problem'),
    sweep: {
      running: running === null ? null : { done: countIn(running, 'done'), of: countIn(running, 'of') },
      ...{ finishedAt: textOrNull(sweep, 'finished_at'), size: countIn(sweep, 'size') },
    },
  };
}

export function fieldsOf(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no object');
  return value as Fields;
}

export function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new Error(`${name} is no text`);
  return value;
}

function itemOf(item: unknown): ShownItem {
  const fields = fieldsOf(item);
  const event = fieldsOf(fields['event']);
  return {
    ...{ index: countIn(fields, 'index'), words: textIn(fields, 'words') },
    projectId: textOrNull(fields, 'project_id'),
    event: {
      ...{ id: textIn(event, 'id'), stream: textIn(event, 'stream'), revision: countIn(event, 'revision') },
      ...{ type: textIn(event, 'type'), recorded_at: textIn(event, 'recorded_at') },
      ...{ data: fieldsOf(event['data']), metadata: fieldsOf(event['metadata']) },
    },
  };
}

function textOrNull(fields: Fields, name: string): string | null {
  return fields[name] === null ? null : textIn(fields, name);
}

function countIn(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new Error(`${name} is no count`);
  return value;
}

export function listIn(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (!Array.isArray(value)) throw new Error(`${name} is no list`);
  return value;
}
