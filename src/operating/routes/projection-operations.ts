import { z } from 'zod';
import { noFields, noQuery } from '../../http/route-spec.js';
import type { Route } from '../../http/route.js';
import { changing, reading } from './operator-route.js';
import type { Clock } from '../../kit/time/clock.js';
import { CommandRejected } from '../../event-sourcing/ports/errors.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import { quarantinedItems } from '../../event-sourcing/feeding/quarantine.js';
import type { ReadModelStore } from '../../event-sourcing/ports/read-model-store.js';
import { quarantinedEvents } from '../../event-sourcing/effects/take-back.js';
import { isViewConsumer, nameOf, viewConsumer } from '../../event-sourcing/feeding/consumers/tasks.js';
import type { Lease, LeaseRecord } from '../../event-sourcing/feeding/consumers/lease.js';
import type { LeaseWatch } from '../../event-sourcing/feeding/consumers/lease-watch.js';
import type { Generations } from '../../event-sourcing/views/generations/generations.js';
import { collectionName } from '../../event-sourcing/views/projection.js';
import { findPrunable, pruneViews } from '../../event-sourcing/views/generations/prune-views.js';
import { requestRebuild } from '../../event-sourcing/views/generations/rebuild.js';
import { loadCheckpoint } from '../../event-sourcing/ports/records.js';

const viewName = z.strictObject({ name: z.string() });

/** Makes the routes on read models (src/event-sourcing/views/README.md#generations-and-rebuild). */
export function makeProjectionOperations(services: {
  readonly generations: Generations;
  readonly leases: { readonly watch: LeaseWatch; readonly feeder: Pick<Lease, 'isOwner' | 'record'> };
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly readModelStore: ReadModelStore;
  readonly clock: Pick<Clock, 'now'>;
}): readonly Route[] {
  const { generations, readModelStore, clock } = services;
  const { watch, feeder } = services.leases;
  return [
    reading('projection list', noQuery, async () => {
      const renewing = feeder.record()?.owner;
      const isUnknown = ({ owner, feeds }: LeaseRecord): boolean =>
        owner !== renewing && feeds.some(isViewConsumer);
      // The command line may run this without a service.
      await Promise.all([watch.look(isUnknown), generations.refresh()]);
      // A process that owns its stores alone writes no record.
      const own = feeder.isOwner() ? feeder.record() : null;
      const records = [...watch.live().filter(({ owner }) => owner !== own?.owner), ...(own ? [own] : [])];
      const items = generations.projections.map(async (projection) => {
        const record = generations.record(projection);
        const collection = collectionName(projection, record.live);
        const checkpoint = await loadCheckpoint(readModelStore, collection);
        const view = viewConsumer(projection);
        const feeders = records.filter(({ feeds }) => feeds.includes(view));
        const quarantined = await quarantinedItems(readModelStore, collection);
        return {
          name: projection.name,
          collection,
          position: checkpoint?.position ?? null,
          feeders: feeders.map(({ owner }) => owner),
          quarantined: quarantined.map(({ id, reason }) => ({ id, reason })),
          ...record,
        };
      });
      const reactions = [...(await quarantinedEvents(readModelStore))].map(([name, events]) => ({
        name,
        quarantined: events.map(({ id, stream, revision, reason }) => ({ id, stream, revision, reason })),
      }));
      return { head: await services.eventStore.head(), items: await Promise.all(items), reactions };
    }),
    changing('projection rebuild', viewName, async ({ name }) => {
      const projection = generations.projections.find((candidate) => candidate.name === name);
      if (projection === undefined) {
        const names = generations.projections.map((candidate) => candidate.name).join(', ');
        throw new CommandRejected('unknown_view', `there is no view ${name}; there are ${names}`);
      }
      const generation = await requestRebuild(generations, projection, clock.now());
      if (generation === null) {
        throw new CommandRejected(
          'rebuild_under_way',
          `the view ${name} is being rebuilt, or was a moment ago; try again later`,
        );
      }
      return { name, building: collectionName(projection, generation) };
    }),
    reading('projection prunable', noQuery, async () => {
      await refuseWhileUsed();
      const { collections, records } = await findPrunable(services);
      return { items: [...collections, ...records.map(({ name }) => name)] };
    }),
    changing('projection prune', noFields, async () => {
      await refuseWhileUsed();
      const { collections, records } = await pruneViews(services);
      return { dropped_collections: collections, dropped_records: records };
    }),
  ];

  /**
   * A process that loses a view stops. A record may be left over from a crash, which the looks show.
   * @throws CommandRejected naming the process and its view
   */
  async function refuseWhileUsed(): Promise<void> {
    const own = new Set(generations.projections.map(viewConsumer));
    const otherView = ({ feeds }: LeaseRecord): string | undefined =>
      feeds.find((consumer) => isViewConsumer(consumer) && !own.has(consumer));
    await watch.look((record) => otherView(record) !== undefined);
    for (const record of watch.live()) {
      const view = otherView(record);
      if (view === undefined) continue;
      throw new CommandRejected(
        'view_in_use',
        `the process ${record.owner} of another release uses ${nameOf(view)}; end it first`,
      );
    }
  }
}
