import { allViews } from '../../../projections/index.js';
import type { Clock, Random } from '../../kit/time/clock.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../event-sourcing/ports/read-model-store.js';
import { makeGenerations } from '../../event-sourcing/views/generations/generations.js';
import type { AnyView } from '../../event-sourcing/views/projection.js';
import { isReached, runProjector } from '../../event-sourcing/feeding/projectors/projector.js';
import type { OnShare } from '../backup/backup.js';

/** A stream that a view could not take in: src/event-sourcing/feeding/README.md#undecodable-events. */
export type ApartInReplay = { readonly view: string; readonly id: string; readonly reason: string };

/**
 * Builds all views of a log in an empty read-model store, with the projectors of the service.
 * @returns the streams that views have set apart
 * @throws StoreUnavailable at the first failure of a store; StoreDamaged, UndecodableEvent when a view must stop
 */
export async function buildViews(
  deps: {
    readonly eventStore: EventStore;
    readonly readModelStore: ReadModelStore;
    readonly clock: Clock;
    readonly random: Random;
  },
  onShare: OnShare,
): Promise<readonly ApartInReplay[]> {
  const { eventStore, readModelStore, clock } = deps;
  /** By view and stream: a later event of a stream sets it apart again. */
  const apart = new Map<string, ApartInReplay>();
  const head = await eventStore.head();
  const generations = makeGenerations({ projections: allViews, readModelStore, clock });
  await generations.start();
  const shares = new Map<AnyView, number>();
  const building = allViews.map((view) => ({ view, collection: generations.liveCollection(view) }));
  await Promise.all(building.map((target) => build(target)));
  return [...apart.values()];

  async function build(target: { readonly view: AnyView; readonly collection: string }): Promise<void> {
    const { view, collection } = target;
    const ending = new AbortController();
    const failures: Error[] = [];
    await runProjector(
      deps,
      { projection: view, collection },
      {
        signal: ending.signal,
        onProgress: ({ position }) => {
          shares.set(view, Number(position ?? 0) / Number(head ?? 1));
          onShare([...shares.values()].reduce((sum, share) => sum + share, 0) / allViews.length);
          if (isReached(position, head)) ending.abort();
        },
        onRetry: (error) => {
          // A service waits for its stores. A command that waited for room on a disk would never end.
          failures.push(error);
          ending.abort();
        },
        onSetApart: ({ id, reason }) => apart.set(`${view.name}/${id}`, { view: view.name, id, reason }),
      },
    );
    const [failure] = failures;
    if (failure !== undefined) throw failure;
  }
}
