import type { Deps } from '../deps.js';
import type { ProbeStorage } from './probe-storage.js';
import { storageCodec, type StorageEvent, storageCategory } from '../../domain/storage/events.js';
import { type TestFailure, testLeaseMs } from '../../domain/storage/test-failure.js';
import type { Reaction, ReactionEvent } from '../../event-sourcing/reacting/reaction.js';
import { streamIdOf } from '../../event-sourcing/ports/stream-name.js';

type StorageTestStarted = Extract<StorageEvent, { type: 'StorageTestStarted' }>;

const timedOut: TestFailure = { code: 'probe_timeout', hint: null };

/** Runs each requested test of a storage and records its result. */
export function makeProbeStorages({
  probeStorage,
  clock,
}: Pick<Deps, 'clock'> & {
  readonly probeStorage: ProbeStorage;
}): Reaction<StorageTestStarted, TestFailure | null | undefined> {
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
    conclude: async (event, context, failure) => {
      if (failure !== undefined) await probeStorage.finish(refOf(event), failure, context);
    },
  };
}
