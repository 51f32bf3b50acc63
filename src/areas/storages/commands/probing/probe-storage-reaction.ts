import type { StorageDeps } from '../../deps.js';
import type { ProbeStorage } from './probe-storage.js';
import { storageCodec, type StorageEvent, storageCategory } from '../../domain/storage/events.js';
import { type TestResult, testLeaseMs } from '../../domain/storage/test-failure.js';
import type { Reaction, ReactionEvent } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/domain-event.js';

type StorageTestStarted = Extract<StorageEvent, { type: 'StorageTestStarted' }>;

const timedOut: TestResult = { failure: { code: 'probe_timeout', hint: null }, warnings: [] };

/** Runs each requested test of a storage and records its result. */
export function makeProbeStorages({
  probeStorage,
  clock,
}: Pick<StorageDeps, 'clock'> & {
  readonly probeStorage: ProbeStorage;
}): Reaction<StorageTestStarted, TestResult | undefined> {
  const refOf = (event: ReactionEvent<StorageTestStarted>) => ({
    storageId: streamIdOf(event),
    testId: event.data.test_id,
  });
  return {
    name: 'probe-storages',
    category: storageCategory,
    codec: storageCodec,
    types: ['StorageTestStarted'],
    // A silent endpoint keeps a slot for 5 s. With few slots the tests of other storages would time out in the queue.
    atOnceMax: 64,
    asks: async (event) => ((await probeStorage.isRunning(refOf(event))) ? 'yes' : 'no'),
    // A test that a crash or a pause delayed this long fails and does not run: its owner has waited long enough.
    perform: async (event, signal) =>
      clock.now().getTime() - event.recordedAt.getTime() >= testLeaseMs
        ? timedOut
        : probeStorage.probe(refOf(event), signal),
    conclude: async (event, context, result) => {
      if (result !== undefined) await probeStorage.finish(refOf(event), result, context);
    },
  };
}
