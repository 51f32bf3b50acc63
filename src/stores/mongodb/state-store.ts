import type { Document } from 'mongodb';
import { z } from 'zod';
import type { JsonValue } from '../../event-sourcing/ports/domain-event.js';
import type { StateRecord, StateStore } from '../../event-sourcing/ports/state-store.js';
import type { Clock, Random } from '../../kit/time/clock.js';
import type { Attempt } from './calls/attempts.js';
import { upkeep, type Calls, type GuardedWrite, type Settled } from './calls/calls.js';
import type { DatabaseCommands } from './calls/commands.js';
import { makeToken, parseStored } from './documents/body-fields.js';

export const stateCollection = 'state';
const collection = stateCollection;

/**
 * The value is JSON text, because no query reads into it and text keeps it exactly; null is a removed record.
 * `replaced` is the version that this one replaced (null: an insert).
 */
const storedRecord = z.object({
  _id: z.string(),
  version: z.string(),
  replaced: z.string().nullable(),
  value: z.string().nullable(),
  expires_at: z.date().nullable(),
});
type StoredRecord = z.infer<typeof storedRecord>;

/**
 * Makes the state store in one database. Only the injected clock decides whether a record has expired.
 * Every write names the exact version that it replaces, or inserts, so it applies at most once, even when sent again.
 * Versions form a chain that shows whether a write without an answer applied. So a removal is a version too.
 */
export function makeMongoDbStateStore({
  calls,
  commands,
  random,
  clock,
  close,
}: {
  readonly calls: Calls;
  readonly commands: DatabaseCommands;
  readonly random: Random;
  readonly clock: Clock;
  readonly close: () => Promise<void>;
}): StateStore {
  const unexpired = () => ({ $or: [{ expires_at: null }, { expires_at: { $gt: clock.now() } }] });

  function isLive({ value, expires_at: expiresAt }: StoredRecord): boolean {
    return value !== null && (expiresAt === null || expiresAt > clock.now());
  }

  async function read(key: string, attempt: Attempt): Promise<StoredRecord | null> {
    const [found] = await commands.find(collection, { _id: key }, { limit: 1 }, attempt);
    return found === undefined ? null : decode(found);
  }

  return {
    get: async (key) => {
      const stored = await calls.read(`read of ${collection}`, async (attempt) => read(key, attempt));
      return stored !== null && isLive(stored) ? toLive(stored) : null;
    },
    compareAndSet: async (key, expected, value, { expiresAt = null } = {}) => {
      const version = makeToken(random);
      // The version to replace; null inserts. A record that is expected to be absent is mostly so, thus the insert comes
      // first. Where a removed or an expired one is stored, the insert is a duplicate, and the look finds its version.
      let over = expected;
      const write: GuardedWrite<string | null> = {
        what: `compare-and-set in ${collection}`,
        send: async (attempt) => {
          const next =
            value === null
              ? { value, expires_at: clock.now() }
              : { value: JSON.stringify(value), expires_at: expiresAt };
          const fields = { version, replaced: over, ...next };
          if (over === null) {
            const { duplicate } = await commands.insert(collection, { _id: key, ...fields }, attempt);
            return duplicate ? 'look' : { settled: version };
          }
          const q = {
            _id: key,
            version: over,
            ...(expected === null ? {} : { ...unexpired(), value: { $ne: null } }),
          };
          const { matched } = await commands.update(collection, [{ q, u: fields, upsert: false }], attempt);
          return matched === 0 ? 'look' : { settled: version };
        },
        look: async (attempt, uncertain) => {
          const stored = await read(key, attempt);
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
      const written = await calls.write(write);
      return written !== null && value === null ? 'removed' : written;
    },
    list: async (prefix, { after, limit }) => {
      if (limit < 1) return [];
      const filter = {
        _id: { ...keysWith(prefix), ...(after === undefined ? {} : { $gt: after }) },
        value: { $ne: null },
        ...unexpired(),
      };
      // Lists are read for the upkeep of the process: its leases, its keys.
      const found = await calls.read(
        `read of ${collection}`,
        async (attempt) => commands.find(collection, filter, { sort: { _id: 1 }, limit }, attempt),
        upkeep,
      );
      return found.map((document) => toLive(decode(document)));
    },
    ping: async () => {
      await calls.read('ping', async (attempt) => commands.run({ ping: 1 }, attempt), upkeep);
    },
    close,
  };
}

/**
 * Makes the server delete records an hour after they expire or are removed. The hour keeps a server whose clock is
 * ahead from deleting present records, and a late repetition of an earlier write from applying.
 */
export async function ensureExpiry({
  calls,
  commands,
}: {
  readonly calls: Calls;
  readonly commands: DatabaseCommands;
}): Promise<void> {
  const index = { name: 'expires_at', key: { expires_at: 1 }, expireAfterSeconds: 3600 };
  await calls.indexing(`index of ${collection}`, async (attempt) =>
    commands.createIndexes(collection, [index], attempt),
  );
}

/** Returns the range of the keys that begin with the prefix, so that the server reads no key beyond it. */
export function keysWith(prefix: string): { readonly $gte: string; readonly $lt?: string } {
  // Keys are in order of their UTF-8 bytes, which is the order of their code points.
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === 0x10_ff_ff) points.pop();
  const last = points.pop();
  if (last === undefined) return { $gte: prefix };
  // Surrogates are no characters.
  const next = last === 0xd7_ff ? 0xe0_00 : last + 1;
  return { $gte: prefix, $lt: String.fromCodePoint(...points, next) };
}

/** The record as it is now. An absent record has version null, and it replaced nothing. */
interface ChainEnd {
  readonly version: string | null;
  readonly replaced: string | null | undefined;
  readonly live: boolean;
}

/** Decides the outcome of a write of `version` over `over`. `uncertain`: an earlier attempt ended without a verdict. */
export function followChain(
  write: {
    readonly version: string;
    readonly expected: string | null;
    readonly over: string | null;
    readonly uncertain: boolean;
  },
  end: ChainEnd,
): Settled<string | null> | { readonly sendOver: string | null } | 'unknowable' {
  if (end.version === write.version || end.replaced === write.version) return { settled: write.version };
  // The record is several versions further, and this write may be one of those between.
  const traceable = end.version === write.over || end.replaced === write.over;
  if (write.uncertain && !traceable) return 'unknowable';
  const matches = write.expected === null ? !end.live : end.live && end.version === write.expected;
  if (matches) return { sendOver: end.version };
  // The record has expired since. The earlier attempt was sent in time and may still apply.
  return write.uncertain && end.version === write.over ? 'unknowable' : { settled: null };
}

function decode(document: Document): StoredRecord {
  return parseStored(storedRecord, document, collection);
}

function toLive({ _id: key, value, version, expires_at: expiresAt }: StoredRecord): StateRecord {
  return { key, value: parseJson(value ?? 'null'), version, expiresAt };
}

/** `JSON.stringify` made the text from a JSON value, so it parses to one. */
const parseJson: (text: string) => JsonValue = JSON.parse;
