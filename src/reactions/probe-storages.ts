import type { ProbeStorage } from '../commands/probe-storage.js';
import { storageCodec, type StorageEvent } from '../domain/storage/events.js';
import { storageCategory } from '../domain/storage/stream.js';
import { type TestFailure, testLeaseMs } from '../domain/storage/test-failure.js';
import type { Clock } from '../event-sourcing/clock.js';
import type { Reaction, ReactionEvent } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type StorageTestStarted = Extract<StorageEvent, { type: 'StorageTestStarted' }>;

const timedOut: TestFailure = { code: 'probe_timeout', hint: null };

/** Carries out every test of a storage that was asked for, and records what it found. */
export function makeProbeStorages({
  probeStorage,
  clock,
}: {
  readonly probeStorage: ProbeStorage;
  readonly clock: Clock;
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
    // Each endpoint that stays silent holds a place for 5 s; nobody else's test is to wait for its lease to run out.
    atOnceMax: 64,
    asks: async (event) => ((await probeStorage.isRunning(refOf(event))) ? 'yes' : 'no'),
    // What a crash or a pause has cut off for so long is not begun anew: its owner has waited long enough.
    perform: async (event, signal) =>
      clock.now().getTime() - event.recordedAt.getTime() >= testLeaseMs
        ? timedOut
        : probeStorage.probe(refOf(event), signal),
    conclude: async (event, context, failure) => {
      if (failure !== undefined) await probeStorage.finish(refOf(event), failure, context);
    },
  };
}
