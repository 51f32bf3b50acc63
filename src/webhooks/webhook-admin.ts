import { type StoredEvent, parseStreamName } from '../event-sourcing/ports/domain-event.js';
import { CommandRejected } from '../event-sourcing/ports/errors.js';
import type { EventStore } from '../event-sourcing/ports/event-store.js';
import type { DeliveryRecords, EndpointRecord, GivenUp } from './delivery-records.js';
import type { WebhookEndpoint } from './endpoint.js';
import { isSelected, sentCategories } from './messages/make-message.js';
import type { Waiting } from './waiting.js';

interface ReplayRequest {
  readonly endpoint: string;
  /** Only events that the log recorded at this time or later. */
  readonly from: Date | null;
  /** Only events of this stream. */
  readonly resource: string | null;
  /** Only deliveries that were given up. */
  readonly failed: boolean;
}

/** What operators ask of the endpoints. It needs no running service, because the state store holds everything. */
export type WebhookAdmin = ReturnType<typeof makeWebhookAdmin>;

const pageEvents = 1_000;

export function makeWebhookAdmin(deps: {
  readonly endpoints: readonly WebhookEndpoint[];
  readonly records: DeliveryRecords;
  readonly eventStore: EventStore;
  readonly clock: { now(): Date };
}) {
  const { endpoints, records, eventStore, clock } = deps;
  return {
    list: () => Promise.all(endpoints.map(listed)),
    /** Returns the deliveries that were given up, by stream and revision, at most `limit`. @throws CommandRejected */
    failed: async (endpointId: string, limit: number): Promise<readonly GivenUp[]> => {
      const { id } = endpointOf(endpointId);
      const entries: GivenUp[] = [];
      for await (const entry of records.allGivenUp(id)) {
        entries.push(entry);
        if (entries.length >= limit) break;
      }
      return entries;
    },
    /** Lets events be sent again. @returns how many messages wait for their replay @throws CommandRejected */
    replay: async ({ endpoint: endpointId, from, resource, failed }: ReplayRequest) => {
      const endpoint = endpointOf(endpointId);
      if (resource !== null) await requireStream(resource);
      if (failed) return replayFailed(endpoint, { from, resource });
      if (resource !== null) return replayStream(endpoint, resource, from);
      if (from !== null) return replayLog(endpoint, from);
      throw new CommandRejected(
        'invalid_request',
        'say what to send again: --from <time>, --resource <stream> or --failed',
      );
    },
  };

  function endpointOf(id: string): WebhookEndpoint {
    const found = endpoints.find((endpoint) => endpoint.id === id);
    if (found !== undefined) return found;
    throw new CommandRejected('not_found', `there is no endpoint ${id}; stowage webhooks list shows them`);
  }

  async function requireStream(stream: string): Promise<void> {
    const category = parseStreamName(stream)?.category ?? '';
    if (!sentCategories.includes(category)) {
      const names = sentCategories.map((name) => `${name}-<id>`).join(', ');
      throw new CommandRejected('invalid_request', `the resource must be one of ${names}`);
    }
    const [first] = await eventStore.read(stream, { limit: 1 });
    if (first === undefined) throw new CommandRejected('not_found', `the log has no stream ${stream}`);
  }

  /** Shows no secret, and of the URL only the origin, because a path may hold a token. */
  async function listed(endpoint: WebhookEndpoint) {
    let [pending, streams] = [0, 0];
    let oldest = '';
    for await (const { waiting } of records.allWaiting(endpoint.id)) {
      [pending, streams] = [pending + waiting.pending, streams + 1];
      if (oldest === '' || waiting.since < oldest) oldest = waiting.since;
    }
    return {
      endpoint: endpoint.id,
      origin: new URL(endpoint.url).origin,
      types: endpoint.types.size,
      ...progressOf(await records.endpoint(endpoint.id)),
      ...{ pending, pending_resources: streams, oldest_pending_at: oldest === '' ? null : oldest },
      /** Deliveries given up in the last 30 days. */
      failed: await records.countGivenUp(endpoint.id),
    };
  }

  async function replayFailed(
    endpoint: WebhookEndpoint,
    { from, resource }: Pick<ReplayRequest, 'from' | 'resource'>,
  ): Promise<{ readonly replayed: number; readonly resources: number }> {
    /** By revision. */
    const streams = new Map<string, GivenUp[]>();
    for await (const entry of records.allGivenUp(endpoint.id)) {
      if (resource !== null && entry.stream !== resource) continue;
      if (from !== null && new Date(entry.recorded_at) < from) continue;
      const known = streams.get(entry.stream);
      if (known === undefined) streams.set(entry.stream, [entry]);
      else known.push(entry);
    }
    let replayed = 0;
    for (const [stream, entries] of streams) {
      // A stream waits as one range, so the messages between the entries are sent again, too.
      const [next = 0, until = next] = [entries[0], entries.at(-1)].map((entry) => entry?.revision);
      replayed += await replayRange(endpoint, stream, { next, until });
      for (const entry of entries) await records.forgetGivenUp(endpoint.id, entry);
    }
    return { replayed, resources: streams.size };
  }

  async function replayStream(endpoint: WebhookEndpoint, stream: string, from: Date | null) {
    for (let at = 0n; ; at += BigInt(pageEvents)) {
      const page = await eventStore.read(stream, { from: at, limit: pageEvents });
      const first = page.find(({ recordedAt }) => from === null || recordedAt >= from);
      if (first !== undefined) return replayFrom(endpoint, first);
      if (page.length < pageEvents) return { replayed: 0, resources: 0 };
    }
  }

  /** Reads the whole log: a position has no time. Each stream is replayed from its first event of the time. */
  async function replayLog(endpoint: WebhookEndpoint, from: Date) {
    let [replayed, resources] = [0, 0];
    let after: string | null = null;
    for (;;) {
      const page = await eventStore.readAll({ after, limit: pageEvents });
      for (const event of page.events) {
        if (event.recordedAt < from || !(await isFirstSince(event, from))) continue;
        const found = await replayFrom(endpoint, event);
        [replayed, resources] = [replayed + found.replayed, resources + found.resources];
      }
      if (page.atHead || page.cursor === after) return { replayed, resources };
      after = page.cursor;
    }
  }

  async function isFirstSince({ stream, revision }: StoredEvent, from: Date): Promise<boolean> {
    if (!sentCategories.includes(parseStreamName(stream)?.category ?? '')) return false;
    if (revision === 0n) return true;
    const [before] = await eventStore.read(stream, { from: revision - 1n, limit: 1 });
    return before === undefined || before.recordedAt < from;
  }

  /** Replays a stream from an event to its end. */
  async function replayFrom(endpoint: WebhookEndpoint, { stream, revision }: StoredEvent) {
    const next = Number(revision);
    const { count, last } = await countSelected(endpoint, stream, { next, until: Number.MAX_SAFE_INTEGER });
    if (count === 0) return { replayed: 0, resources: 0 };
    await replayRange(endpoint, stream, { next, until: last });
    return { replayed: count, resources: 1 };
  }

  /** Lets a range of a stream wait from now on, together with what waits already. @returns how many more messages wait */
  async function replayRange(endpoint: WebhookEndpoint, stream: string, range: Range): Promise<number> {
    const now = clock.now().toISOString();
    let added = 0;
    await records.changeWaiting(endpoint.id, stream, async (found) => {
      const next = Math.min(range.next, found?.next ?? range.next);
      const until = Math.max(range.until, found?.until ?? range.until);
      const { count: pending } = await countSelected(endpoint, stream, { next, until });
      added = pending - (found?.pending ?? 0);
      return { next, until, pending, failures: 0, not_before: now, since: now };
    });
    return added;
  }

  async function countSelected(endpoint: WebhookEndpoint, stream: string, { next, until }: Range) {
    let [count, last] = [0, next];
    for (let at = next; ; at += pageEvents) {
      const page = await eventStore.read(stream, { from: BigInt(at), limit: pageEvents });
      const within = page.filter(({ revision }) => revision <= BigInt(until));
      count += within.filter((event) => isSelected(endpoint, event)).length;
      last = Math.max(last, Number(within.at(-1)?.revision ?? 0));
      if (page.length < pageEvents || within.length < page.length) return { count, last };
    }
  }
}

type Range = Pick<Waiting, 'next' | 'until'>;

/** An endpoint without a record was set since the last start. */
function progressOf(found: EndpointRecord | null) {
  if (found === null) {
    const never = { last_success_at: null, last_failure_at: null, last_failure: null };
    return { state: 'new', problem: null, added_at: null, ...never };
  }
  const { state, problem, last_success_at, last_failure_at, last_failure, added_at } = found;
  return { state, problem, last_success_at, last_failure_at, last_failure, added_at };
}
