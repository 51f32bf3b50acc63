import type { Document } from 'mongodb';
import { z } from 'zod';

import type { Random } from '../../event-sourcing/clock.js';
import type { JsonValue } from '../../event-sourcing/domain-event.js';
import type { Calls, GuardedWrite, Settled } from './calls.js';
import type { Commands } from './commands.js';
import { parseStored } from './parse-stored.js';
import { makeToken } from './token.js';

/**
 * A record as it is stored: the value as JSON text, since nobody queries it and text keeps it exactly.
 * `value` null is a removed record. `replaced` is the version that this one was written over (null: an insert).
 */
const storedRecord = z.object({
  _id: z.string(),
  version: z.string(),
  replaced: z.string().nullable(),
  value: z.string().nullable(),
  expires_at: z.date().nullable(),
});
type StoredRecord = z.infer<typeof storedRecord>;

export interface LiveRecord {
  readonly key: string;
  readonly value: JsonValue;
  readonly version: string;
  readonly expiresAt: Date | null;
}

export interface NewValue {
  /** Null removes. */
  readonly value: JsonValue;
  readonly removes: boolean;
  readonly expiresAt: Date | null;
}

/** Records of one collection, changed one at a time by compare-and-set. */
export interface VersionedRecords {
  readonly get: (key: string) => Promise<LiveRecord | null>;
  /** The new version, or null when the record is not at `expected` (null: absent, removed or expired). */
  readonly compareAndSet: (key: string, expected: string | null, next: NewValue) => Promise<string | null>;
  readonly list: (
    prefix: string,
    options: { readonly after?: string; readonly limit: number },
  ) => Promise<readonly LiveRecord[]>;
}

/**
 * Every write names the exact version that it replaces, or inserts: so it applies at most once however often it is
 * sent, and versions form a chain that tells afterwards what became of a write whose answer was lost. A removal
 * is therefore a version too.
 */
export function makeVersionedRecords({
  calls,
  commands,
  random,
  now,
  collection,
}: {
  readonly calls: Calls;
  readonly commands: Commands;
  readonly random: Random;
  readonly now: () => Date;
  readonly collection: string;
}): VersionedRecords {
  const unexpired = () => ({ $or: [{ expires_at: null }, { expires_at: { $gt: now() } }] });

  function isLive({ value, expires_at: expiresAt }: StoredRecord): boolean {
    return value !== null && (expiresAt === null || expiresAt > now());
  }

  async function read(key: string, signal: AbortSignal): Promise<StoredRecord | null> {
    const [found] = await commands.find(collection, { _id: key }, { limit: 1, batchSize: 1 }, signal);
    return found === undefined ? null : decode(found);
  }

  function decode(document: Document): StoredRecord {
    return parseStored(storedRecord, document, collection);
  }

  return {
    get: async (key) => {
      const stored = await calls.read(`read of ${collection}`, async (signal) => read(key, signal));
      return stored !== null && isLive(stored) ? toLive(stored) : null;
    },

    compareAndSet: async (key, expected, next) => {
      const version = makeToken(random);
      // The version to write over; null inserts. What is absent, removed or expired is to be looked at first.
      let over: string | null | undefined = expected ?? undefined;
      const write: GuardedWrite<string | null> = {
        what: `compare-and-set in ${collection}`,
        send: async (signal) => {
          if (over === undefined) return 'look';
          const fields = { version, replaced: over, ...storedValue(next, now()) };
          if (over === null) {
            const { duplicate } = await commands.insert(collection, { _id: key, ...fields }, signal);
            return duplicate ? 'look' : { settled: version };
          }
          const q = {
            _id: key,
            version: over,
            ...(expected === null ? {} : { ...unexpired(), value: { $ne: null } }),
          };
          const { matched } = await commands.update(collection, [{ q, u: fields, upsert: false }], signal);
          return matched === 0 ? 'look' : { settled: version };
        },
        look: async (signal, uncertain) => {
          const stored = await read(key, signal);
          const end: ChainEnd =
            stored === null
              ? { version: null, replaced: undefined, live: false }
              : { ...stored, live: isLive(stored) };
          const answer = followChain({ version, expected, over, uncertain }, end);
          if (typeof answer === 'string' || 'settled' in answer) return answer;
          over = answer.sendOver;
          return 'send';
        },
      };
      return calls.write(write);
    },

    list: async (prefix, { after, limit }) => {
      if (limit < 1) return [];
      const filter = {
        _id: { $gte: prefix, ...(after === undefined ? {} : { $gt: after }) },
        value: { $ne: null },
        ...unexpired(),
      };
      const found = await calls.read(`read of ${collection}`, async (signal) =>
        commands.find(collection, filter, { sort: { _id: 1 }, limit, batchSize: limit }, signal),
      );
      // Keys with the prefix follow one another from the prefix on.
      const records = found.map(decode);
      const end = records.findIndex(({ _id: key }) => !key.startsWith(prefix));
      return (end === -1 ? records : records.slice(0, end)).map(toLive);
    },
  };
}

/** The record as it is now; an absent one has version null and replaced nothing. */
export interface ChainEnd {
  readonly version: string | null;
  readonly replaced: string | null | undefined;
  readonly live: boolean;
}

/** What became of a write of `version` over `over`. `uncertain`: an earlier try of it ended without a verdict. */
export function followChain(
  write: {
    readonly version: string;
    readonly expected: string | null;
    /** Undefined: nothing was sent yet. */
    readonly over: string | null | undefined;
    readonly uncertain: boolean;
  },
  end: ChainEnd,
): Settled<string | null> | { readonly sendOver: string | null } | 'unknowable' {
  if (end.version === write.version || end.replaced === write.version) return { settled: write.version };
  // Several versions on: ours may have been one of those between.
  const traceable = end.version === write.over || end.replaced === write.over;
  if (write.uncertain && !traceable) return 'unknowable';
  const matches = write.expected === null ? !end.live : end.live && end.version === write.expected;
  if (matches) return { sendOver: end.version };
  // It expired since; the earlier try, sent in time, may still come through.
  return write.uncertain && end.version === write.over ? 'unknowable' : { settled: null };
}

function storedValue(
  { value, removes, expiresAt }: NewValue,
  now: Date,
): Pick<StoredRecord, 'value' | 'expires_at'> {
  return removes ? { value: null, expires_at: now } : { value: JSON.stringify(value), expires_at: expiresAt };
}

function toLive({ _id: key, value, version, expires_at: expiresAt }: StoredRecord): LiveRecord {
  return { key, value: parseJson(value ?? 'null'), version, expiresAt };
}

/** JSON text is what `JSON.stringify` made of a JSON value, so it parses to one. */
const parseJson: (text: string) => JsonValue = JSON.parse;
