import { v5, v7 } from 'uuid';
import { bytesOfAsset } from '../../../src/areas/assets/domain/asset/fold.js';
import { assetCodec } from '../../../src/areas/assets/domain/asset/events.js';
import { emailCodec } from '../../../src/areas/accounts/domain/email/events.js';
import { orderCodec } from '../../../src/areas/payments/domain/order/events.js';
import { transactionCodec } from '../../../src/areas/payments/domain/transaction/events.js';
import { projectCodec } from '../../../src/areas/projects/domain/project/events.js';
import { sessionCodec } from '../../../src/areas/accounts/domain/session/events.js';
import { shareAccessCodec } from '../../../src/areas/shares/domain/share-access/events.js';
import { shareCodec } from '../../../src/areas/shares/domain/share/events.js';
import { storageCodec } from '../../../src/areas/storages/domain/storage/events.js';
import { userCodec } from '../../../src/areas/accounts/domain/user/events.js';
import type { DomainEvent, NewEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { EventCodec } from '../../../src/event-sourcing/ports/event-codec.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { assetFacts } from '../examples/asset.js';
import { rotatedTo, sessionStarted } from '../examples/session.js';
import { shareCreated } from '../examples/share.js';
import { storageCreated } from '../examples/storage.js';
import { userRegistered } from '../examples/user.js';
import { makeSeededRandom } from '../fakes/clock.js';
import { metadataOf } from '../examples/metadata.js';

/** People whose stories are under way at once, so that events of one stream lie far apart in the log. */
const peopleAtOnce = 400;
const appendsAtOnce = 64;
const time = '2026-01-02T03:04:05.000Z';
const namespace = '019b7d00-0000-5000-8000-000000000000';

interface Step {
  readonly stream: string;
  readonly events: readonly NewEvent[];
}

type Random = () => number;

/** Fills a log with the stories of many people, in random order: events of all views, in streams of 1 to 30 events. */
export async function fillMixedLog(eventStore: EventStore, events: number): Promise<void> {
  const random = makeSeededRandom(1);
  const revisions = new Map<string, bigint>();
  let appended = 0;
  // Ids ascend with the time, as those of the service do.
  const now = (): number => Date.parse(time) + appended * 100;
  const stories = Array.from({ length: peopleAtOnce }, () => storyOf(random, now));
  while (appended < events) {
    const batch = new Map<string, Step>();
    while (batch.size < appendsAtOnce) {
      const at = Math.floor(random() * peopleAtOnce);
      const step = stories[at]?.next();
      if (step === undefined || step.done === true) stories[at] = storyOf(random, now);
      else if (batch.has(step.value.stream)) break;
      else batch.set(step.value.stream, step.value);
    }
    await Promise.all([...batch.values()].map(append));
  }

  async function append({ stream, events: added }: Step): Promise<void> {
    const result = await eventStore.append(stream, revisions.get(stream) ?? 'no-stream', added);
    if (result !== null) revisions.set(stream, result.revision);
    appended += added.length;
  }
}

/** One person's account, sessions, project, storage, assets, shares and order. */
function* storyOf(random: Random, now: () => number): Generator<Step> {
  const id = (): string => v7({ random: bytesOf(random, 16), msecs: now() });
  const digest = (): string => Buffer.from(bytesOf(random, 32)).toString('hex');
  const [userId, projectId, storageId] = [id(), id(), id()];
  const on = <Event extends DomainEvent>(
    stream: string,
    codec: EventCodec<Event>,
    ...events: Event[]
  ): Step => ({
    stream,
    events: events.map((event) => recordOf(codec, event, id())),
  });
  const user = `user-${userId}`;
  const project = `project-${projectId}`;
  yield on(`email-${digest()}`, emailCodec, {
    type: 'EmailReserved',
    data: { user_id: userId, change_id: null },
  });
  yield on(
    user,
    userCodec,
    { type: 'UserRegistered', data: { ...userRegistered.data, email_digest: digest() } },
    { type: 'CapacityGranted', data: { source: 'registration', bytes: 1_073_741_824 } },
  );
  yield on(user, userCodec, { type: 'EmailVerified', data: { email_digest: digest() } });
  yield on(project, projectCodec, {
    type: 'ProjectCreated',
    data: { name: 'A film of some length', owner_id: userId },
  });
  yield on(project, projectCodec, {
    type: 'EntitlementGranted',
    data: { entitlement: 'allow_s3', source: 'operator' },
  });
  const storage = `storage-${storageId}`;
  const testId = id();
  yield on(
    storage,
    storageCodec,
    { type: 'StorageCreated', data: { ...storageCreated.data, project_id: projectId } },
    { type: 'StorageTestStarted', data: { test_id: testId, candidate: null } },
  );
  yield on(storage, storageCodec, { type: 'StorageTestSucceeded', data: { test_id: testId, warnings: [] } });
  yield on(project, projectCodec, { type: 'DefaultStorageChanged', data: { storage_id: storageId } });
  for (let visits = 1 + Math.floor(random() * 3); visits > 0; visits -= 1) {
    const session = `session-${id()}`;
    yield on(session, sessionCodec, {
      type: 'SessionStarted',
      data: { ...sessionStarted.data, user_id: userId },
    });
    for (let generation = 2; generation < 2 + Math.floor(random() * 8); generation += 1) {
      yield on(session, sessionCodec, rotatedTo(generation));
      if (random() < 0.5) {
        const asset = `asset-${id()}`;
        yield on(asset, assetCodec, {
          type: 'AssetAdded',
          data: { project_id: projectId, storage_id: storageId, ...assetFacts },
        });
        if (random() < 0.3)
          yield on(asset, assetCodec, { type: 'AssetRenamed', data: { name: 'Rhine at dusk' } });
        if (random() < 0.3) yield* shareOf(asset.slice('asset-'.length));
        if (random() < 0.1)
          yield on(asset, assetCodec, {
            type: 'AssetRemoved',
            data: { project_id: projectId, bytes: bytesOfAsset(assetFacts) },
          });
      }
    }
    if (random() < 0.5)
      yield on(session, sessionCodec, { type: 'SessionRevoked', data: { reason: 'signed_out' } });
  }
  if (random() < 0.3) yield* purchase();

  function* shareOf(assetId: string): Generator<Step> {
    const shareId = id();
    const share = `share-${shareId}`;
    yield on(share, shareCodec, {
      type: 'ShareCreated',
      data: {
        ...shareCreated.data,
        project_id: projectId,
        asset_ids: [assetId],
        token_digest: digest(),
        created_by: userId,
      },
    });
    for (let uses = Math.floor(random() * 4); uses > 0; uses -= 1) {
      const accessId = id();
      yield on(share, shareCodec, { type: 'ShareUsed', data: { access_id: accessId } });
      yield on(`shareaccess-${accessId}`, shareAccessCodec, {
        type: 'ShareVerified',
        data: { share_id: shareId, project_id: projectId, client_ip_digest: digest() },
      });
    }
  }

  function* purchase(): Generator<Step> {
    const orderId = id();
    const order = `order-${orderId}`;
    const money = { amount: 990, currency: 'USD' };
    const callback = `stripe-${digest()}`;
    yield on(order, orderCodec, {
      type: 'OrderPlaced',
      data: {
        user_id: userId,
        project_id: null,
        plan_id: 'storage-10g',
        grant: { capacity_bytes: 10_737_418_240 },
        provider: 'stripe',
        ...money,
        expires_at: time,
      },
    });
    const paid = {
      order_number: orderId,
      transaction_id: 'pi_1',
      fact: { kind: 'paid', ...money },
      at: time,
    } as const;
    yield on(`transaction-${callback}`, transactionCodec, {
      type: 'PaymentReported',
      data: {
        ...{ key: callback, digest: digest(), is_ours: true, notifications: [paid] },
        ...{ order_id: orderId, received_at: time },
      },
    });
    yield on(order, orderCodec, {
      type: 'PaymentCaptured',
      data: { callback: `${callback}@0.0`, transaction_id: 'pi_1', ...money, at: time },
    });
    yield on(order, orderCodec, { type: 'OrderFulfilled', data: {} });
  }
}

function recordOf<Event extends DomainEvent>(
  codec: EventCodec<Event>,
  event: Event,
  commandId: string,
): NewEvent {
  return {
    id: v5(commandId, namespace),
    ...codec.encode(event),
    metadata: metadataOf(commandId, `user:${commandId}`, time),
  };
}

function bytesOf(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => Math.floor(random() * 256));
}
