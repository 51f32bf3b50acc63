import { recordsOf, pagesOf } from '../event-sourcing/ports/state-store.js';
import { z } from 'zod';
import { StoreUnavailable } from '../event-sourcing/ports/errors.js';
import type { StateStore } from '../event-sourcing/ports/state-store.js';
import { changeRecord } from '../event-sourcing/ports/change-record.js';
import { type Waiting, waitingSchema } from './waiting.js';

/** Storage format of `webhook/<endpoint>`: how far the endpoint is. */
const endpointSchema = z.strictObject({
  log_id: z.string(),
  /** Every event up to it is delivered, given up or in the record of a waiting stream. Null: the start of the log. */
  position: z.string().nullable(),
  /** Of the last event up to the position. Null while the endpoint has passed none. */
  fingerprint: z.string().nullable(),
  added_at: z.iso.datetime(),
  /** When a process last served the endpoint. Another process drops the endpoint some time later, if no setting names it. */
  seen_at: z.iso.datetime(),
  state: z.enum(['delivering', 'gone', 'stopped']),
  /** Why the endpoint stopped. */
  problem: z.string().nullable(),
  last_success_at: z.iso.datetime().nullable(),
  last_failure_at: z.iso.datetime().nullable(),
  last_failure: z.string().nullable(),
});
export type EndpointRecord = z.infer<typeof endpointSchema>;

/** Storage format of `webhookfailed/<endpoint>/<stream>/<revision>`: an event that the service has given up. */
const givenUpSchema = z.strictObject({
  stream: z.string(),
  revision: z.int().nonnegative(),
  event_id: z.string(),
  type: z.string(),
  recorded_at: z.iso.datetime(),
  given_up_at: z.iso.datetime(),
  /** Of the last attempt. */
  reason: z.string(),
});
export type GivenUp = z.infer<typeof givenUpSchema>;

/** The list of given-up deliveries keeps an entry for this time. */
const givenUpKeptMs = 30 * 24 * 60 * 60 * 1_000;
const tries = 20;

/** The lane of the outbox that delivers to an endpoint. */
export function laneOf(id: string): string {
  return `webhook/${id}`;
}

/** The key of the record of a waiting stream. */
export function waitingKey(id: string, stream: string): string {
  return `outbox/${laneOf(id)}/${stream}`;
}

/** The durable state of deliveries, in the state store. All processes share it; every change is a compare-and-set. */
export type DeliveryRecords = ReturnType<typeof makeDeliveryRecords>;

/** Makes the records. @throws StoreUnavailable from each function */
export function makeDeliveryRecords(stateStore: StateStore) {
  const endpointKey = (id: string): string => `webhook/${id}`;
  const waitingPrefix = (id: string): string => waitingKey(id, '');
  const givenUpPrefix = (id: string): string => `webhookfailed/${id}/`;
  const givenUpKey = (id: string, { stream, revision }: Pick<GivenUp, 'stream' | 'revision'>): string =>
    `${givenUpPrefix(id)}${stream}/${String(revision).padStart(12, '0')}`;
  return {
    endpoint: async (id: string): Promise<EndpointRecord | null> => {
      const found = await stateStore.get(endpointKey(id));
      return found === null ? null : endpointSchema.parse(found.value);
    },
    /** Changes the record of an endpoint. @returns the record as stored @throws StoreUnavailable */
    changeEndpoint: async (
      id: string,
      change: (found: EndpointRecord | null) => EndpointRecord,
    ): Promise<EndpointRecord> => {
      const changed = await changeRecord<EndpointRecord, EndpointRecord, never>(
        stateStore,
        { key: endpointKey(id), schema: endpointSchema },
        (found) => {
          const write = change(found?.value ?? null);
          return { write, result: write };
        },
        // Each change merges with what it finds, so that it may apply twice.
        { tries, unknownOutcome: 'retry' },
      );
      if (changed === null || 'kept' in changed) throw contended(id);
      return changed.result;
    },
    /** Returns the ids of all stored endpoints, with the versions of their records, which a newer release may have written. */
    endpointVersions: async (): Promise<ReadonlyMap<string, string>> => {
      const versions = new Map<string, string>();
      for await (const { key, version } of recordsOf(stateStore, 'webhook/'))
        versions.set(key.slice('webhook/'.length), version);
      return versions;
    },
    /** Removes everything that is stored of an endpoint. */
    drop: async (id: string) => {
      await remove(waitingPrefix(id));
      await remove(givenUpPrefix(id));
      const found = await stateStore.get(endpointKey(id));
      if (found !== null) await stateStore.compareAndSet(found.key, found.version, null);
    },
    /** Removes the waiting events of all streams of an endpoint. */
    dropWaiting: (id: string) => remove(waitingPrefix(id)),
    waiting: async (id: string, stream: string): Promise<Waiting | null> => {
      const found = await stateStore.get(waitingKey(id, stream));
      return found === null ? null : waitingSchema.parse(found.value);
    },
    /** Changes the waiting events of a stream; null removes the record. @returns what is stored @throws StoreUnavailable */
    changeWaiting: async (
      id: string,
      stream: string,
      change: (found: Waiting | null) => Waiting | null | Promise<Waiting | null>,
    ): Promise<Waiting | null> => {
      const changed = await changeRecord<Waiting, Waiting | null, Waiting | null>(
        stateStore,
        { key: waitingKey(id, stream), schema: waitingSchema },
        async (found) => {
          const before = found?.value ?? null;
          const after = await change(before);
          return after === before ? { keep: after } : { write: after, result: after };
        },
        { tries, unknownOutcome: 'retry' },
      );
      if (changed === null) throw contended(id);
      return 'kept' in changed ? changed.kept : changed.result;
    },
    /** Yields the waiting streams of an endpoint in order of name, page by page. */
    allWaiting: async function* (id: string) {
      const prefix = waitingPrefix(id);
      for await (const { key, value } of recordsOf(stateStore, prefix))
        yield { stream: key.slice(prefix.length), waiting: waitingSchema.parse(value) };
    },
    /** Replaces an entry of before a replay. @param since when the event began to wait @returns false when the entry existed */
    giveUp: async (id: string, entry: GivenUp, since: string): Promise<boolean> => {
      const key = givenUpKey(id, entry);
      const found = await stateStore.get(key);
      if (found !== null && givenUpSchema.parse(found.value).given_up_at >= since) return false;
      const expiresAt = new Date(Date.parse(entry.given_up_at) + givenUpKeptMs);
      return (await stateStore.compareAndSet(key, found?.version ?? null, entry, { expiresAt })) !== null;
    },
    /** Yields the given-up deliveries of an endpoint, by stream and revision, page by page. */
    allGivenUp: async function* (id: string) {
      for await (const { value } of recordsOf(stateStore, givenUpPrefix(id)))
        yield givenUpSchema.parse(value);
    },
    countGivenUp: async (id: string): Promise<number> => {
      let count = 0;
      for await (const page of pagesOf(stateStore, givenUpPrefix(id))) count += page.length;
      return count;
    },
    forgetGivenUp: async (id: string, entry: Pick<GivenUp, 'stream' | 'revision'>) => {
      const found = await stateStore.get(givenUpKey(id, entry));
      if (found !== null) await stateStore.compareAndSet(found.key, found.version, null);
    },
  };

  async function remove(prefix: string): Promise<void> {
    for await (const first of recordsOf(stateStore, prefix)) {
      const { key } = first;
      // An attempt may change the record meanwhile.
      const removed = await changeRecord<unknown, null, null>(
        stateStore,
        { key, schema: z.unknown() },
        (found) => (found === null ? { keep: null } : { write: null, result: null }),
        { tries, first, unknownOutcome: 'retry' },
      );
      if (removed === null) throw contended(prefix);
    }
  }
}

function contended(id: string): StoreUnavailable {
  return new StoreUnavailable(
    `other writers were faster at each attempt to change a record of webhook ${id}`,
  );
}
