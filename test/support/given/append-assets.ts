import { v5 } from 'uuid';
import { assetCodec } from '../../../src/areas/assets/domain/asset/events.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { assetDescription } from '../examples/asset.js';
import { metadataOf } from '../examples/metadata.js';

const appendsAtOnce = 500;
const namespace = '019b7d00-0000-5000-8000-000000000000';

/** Appends one event for each of the assets `from` to `until - 1`, without the checks of a command. */
export async function appendAssets(
  eventStore: Pick<EventStore, 'append'>,
  assets: {
    readonly from: number;
    readonly until: number;
    readonly project: string;
    readonly storageId: string;
  },
): Promise<void> {
  const { from, until, project, storageId } = assets;
  const facts = { project_id: project, storage_id: storageId, size: 1, renditions: [] };
  const data = { ...assetDescription, ...facts };
  const { data: encoded, type } = assetCodec.encode({ type: 'AssetAdded', data });
  const metadata = metadataOf(namespace);
  const write = (n: number): Promise<unknown> => {
    const id = v5(String(n), namespace);
    const event = { id, type, data: encoded, metadata };
    return eventStore.append(`asset-${id}`, 'no-stream', [event]);
  };
  for (let at = from; at < until; at += appendsAtOnce) {
    await Promise.all(Array.from({ length: Math.min(appendsAtOnce, until - at) }, (_, n) => write(at + n)));
  }
}
