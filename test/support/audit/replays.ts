import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { allViews } from '../../../projections/index.js';
import { openReplaySource } from '../../../src/operating/replay/replay-source.js';
import { type Replayed, replayInto } from '../../../src/operating/replay/replay.js';
import { readConfig } from '../../../src/config/config.js';
import type { Moment } from '../../../src/areas/audit/history/history.js';
import type { JsonObject, LogEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { collectionName, isTally } from '../../../src/event-sourcing/views/projection.js';
import { totalOf } from '../../../src/event-sourcing/views/projection.js';
import { makeServiceClient, storageRequest, textOf } from '../clients/service-client.js';
import { signStandard } from '../clients/sign-callbacks.js';
import { viewsAtHead } from '../given/backups.js';
import { givenContext } from '../given/given-stores.js';
import { openStores } from '../servers/embedded-directory.js';
import type { ServiceInProcess } from '../servers/service-in-process.js';
import { readWholeLog } from './audit-scene.js';

/** The settings of a service that `fillService` fills. */
const paymentSecret = `whsec_${Buffer.from('test only, the secret of the replays').toString('base64')}`;
export const replayEnvironment = { PAYMENT_STANDARD_WEBHOOK_SECRETS: paymentSecret };

/**
 * Fills a service with users, projects, storages, assets, shares, a paid order, a node and an erased user.
 * @returns the stream of a project that was renamed
 */
export async function fillService({ url, services }: ServiceInProcess): Promise<string> {
  const client = makeServiceClient(url);
  const context = (n: number) => givenContext(n, new Date(), 'operator');
  const { headers } = await client.register('ada@example.org', 'Correct-Horse-7');
  const { userId: gone } = await client.register('eve@example.org', 'Correct-Horse-7');
  const make = async (path: string, body: JsonObject, status = 201): Promise<JsonObject> => {
    const reply = await client.post(path, body, headers);
    if (reply.status !== status) throw new Error(`${path} was answered ${reply.status}: ${reply.text}`);
    return reply.json();
  };
  const projectId = textOf(await make('/api/v1/projects', { name: 'Film' }), 'id');
  await services.commands.grantEntitlement(
    { projectId, entitlement: 'allow_s3', source: 'operator' },
    context(1),
  );
  const project = `/api/v1/projects/${projectId}`;
  const storage = textOf(await make(`${project}/storages`, storageRequest('Rushes')), 'id');
  const asset = { storage_id: storage, object_key: 'clip.mp4', media_type: 'video/mp4', size: 400 };
  const kept = textOf(await make(`${project}/assets`, { ...asset, name: 'Clip' }), 'id');
  const dropped = textOf(
    await make(`${project}/assets`, { ...asset, name: 'Take', object_key: 'take.mp4' }),
    'id',
  );
  await make(`${project}/shares`, { asset_id: kept, password: 'open sesame', max_uses: 20 });
  await client.send(`${project}/assets/${dropped}`, { method: 'DELETE', headers: { ...headers } });
  const order = await make('/api/v1/orders', { plan_id: 'capacity-100g', provider: 'standard' });
  const number = textOf(order, 'number');
  const { headers: signature, body } = signStandard(
    {
      type: 'payment.paid',
      timestamp: new Date().toISOString(),
      data: { order_number: number, transaction_id: 'tx-0', amount: 999, currency: 'USD' },
    },
    { id: 'msg-0', secret: paymentSecret, at: new Date() },
  );
  await client.send('/api/v1/payment/webhooks/standard', {
    method: 'POST',
    headers: { ...signature },
    body,
  });
  await client.patch(project, { name: 'Landing' }, headers);
  await services.commands.eraseUser({ userId: gone }, context(2));
  return `project-${projectId}`;
}

/** Waits until the reactions have fulfilled the order and append no more, and returns the log and the documents of then. */
export async function readSettled(service: ServiceInProcess): Promise<{
  readonly events: readonly LogEvent[];
  readonly documents: Readonly<Record<string, unknown>>;
}> {
  const { eventStore, readModelStore, generations } = service.services;
  for (;;) {
    const events = await readWholeLog(eventStore);
    await wait(500);
    await viewsAtHead(service);
    const documents = await documentsIn(readModelStore, (view) => generations.record(view).live);
    const isSettled = (await readWholeLog(eventStore)).length === events.length;
    if (isSettled && events.some(({ type }) => type === 'OrderFulfilled')) return { events, documents };
  }
}

/** Replays the log of a data directory, or an export, as the command does. */
export async function replayFrom(
  directory: string,
  folder: string,
  {
    from,
    until = null,
    environment = {},
  }: {
    readonly from?: string;
    readonly until?: Moment | null;
    readonly environment?: Readonly<Record<string, string>>;
  } = {},
): Promise<Replayed> {
  const config = readConfig({ DATA_DIR: directory, ...environment });
  const source = await openReplaySource(config, from);
  try {
    const { streamPrefix } = config;
    return await replayInto(source, folder, { streamPrefix, until, onShare: () => undefined });
  } finally {
    await source.close();
  }
}

/** Opens the stores of a replay, and removes the manifest that refuses it. */
export async function openReplay(folder: string) {
  rmSync(join(folder, 'replay.json'));
  const stores = await openStores(folder);
  return {
    ...stores,
    events: (): Promise<readonly LogEvent[]> => readWholeLog(stores.eventStore),
    documents: () => documentsIn(stores.readModelStore, () => 1),
  };
}

/** Returns the documents of all views, by view and id: revision and content. Announced changes of totals do not count. */
export async function documentsIn(
  readModelStore: ReadModelStore,
  generationOf: (view: (typeof allViews)[number]) => number,
): Promise<Readonly<Record<string, unknown>>> {
  const found: Record<string, unknown> = {};
  for (const view of allViews) {
    for (let after: string | undefined; ;) {
      const page = await readModelStore.scan(collectionName(view, generationOf(view)), {
        limit: 500,
        ...(after === undefined ? {} : { after }),
      });
      for (const document of page) {
        found[`${view.name}/${document.id}`] = isTally(view)
          ? { bytes: totalOf(document).bytes }
          : { revision: document.revision, body: document.body };
      }
      after = page.at(-1)?.id;
      if (after === undefined) break;
    }
  }
  return found;
}
