import { rejectedBy } from '../../../kit/time/time-limit.js';
import type { ReactionEvent } from '../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { streamIdOf } from '../../../event-sourcing/ports/domain-event.js';
import type { StorageDeps } from '../deps.js';
import type { StorageEvent } from '../domain/storage/events.js';
import { storageAggregate } from '../domain/storage/storage.js';
import { type TestResult, testLeaseMs, testTimeMs } from '../domain/delivery/test-failure.js';
import { accountOfStorage } from './open-storage.js';
import { on } from '../../../event-sourcing/effects/reaction.js';

type StorageTestStarted = Extract<StorageEvent, { type: 'StorageTestStarted' }>;

type StorageTestRef = { readonly storageId: string; readonly testId: string };

/** Makes the tests of storages. */
export function makeProbeStorage(
  deps: Pick<StorageDeps, 'handler' | 'openStorage' | 'probe' | 'onFailure' | 'browserOrigins'> & {
    readonly timeMs?: number;
  },
) {
  const { handler, openStorage, probe, onFailure, browserOrigins, timeMs = testTimeMs } = deps;
  return {
    /** Says whether the test still waits for its result. */
    isRunning: async ({ storageId, testId }: StorageTestRef): Promise<boolean> => {
      const { state } = await handler.load(storageAggregate, storageId);
      return state.status !== 'absent' && state.status !== 'deleted' && state.test?.id === testId;
    },
    /**
     * Probes the storage. Returns undefined when the test is already over. An error inside the test is the failure
     * `test_broken`, and a test without a result after 18 s is `probe_timeout`, so that no test hangs.
     * @throws the signal's reason: another process runs the test again
     */
    probe: async (test: StorageTestRef, signal: AbortSignal): Promise<TestResult | undefined> => {
      const timeUp = AbortSignal.timeout(timeMs);
      try {
        const result = await Promise.race([
          run(test, AbortSignal.any([signal, timeUp])),
          rejectedBy(timeUp),
          rejectedBy(signal),
        ]);
        // The end of the time breaks off the request that runs, which looks like a failure of the connection.
        return result?.failure != null && timeUp.aborted ? timedOut : result;
      } catch (error) {
        if (signal.aborted) throw error;
        if (timeUp.aborted) return timedOut;
        onFailure('a storage was not tested', error);
        return { failure: { code: 'test_broken', hint: null }, warnings: [] };
      }
    },
    /** Returns the account that pays for the storage. */
    accountOf: (storageId: string) => accountOfStorage(handler, storageId),
    /** Records the result; a repetition changes nothing. */
    finish: async ({ storageId, testId }: StorageTestRef, result: TestResult, context: CommandContext) => {
      await handler.handle(storageAggregate.at(storageId), { type: 'FinishTest', testId, result }, context);
    },
  };

  async function run(
    { storageId, testId }: StorageTestRef,
    signal: AbortSignal,
  ): Promise<TestResult | undefined> {
    const opened = await openStorage.tested(storageId, testId);
    if (opened === null) return undefined;
    const { storage, urls } = opened;
    const { provider, base_path: basePath, cdn_domain, public_endpoint } = storage.configuration;
    const cdn = cdn_domain === '' ? null : storage.delivery;
    const hasPublicEndpoint = public_endpoint !== '';
    return probe({ urls, provider, basePath, cdn, hasPublicEndpoint, origins: browserOrigins }, signal);
  }
}

const timedOut: TestResult = { failure: { code: 'probe_timeout', hint: null }, warnings: [] };

/** Runs each requested test of a storage and records its result. */
export function makeProbeStorages(
  deps: Pick<StorageDeps, 'clock'> & { readonly probeStorage: ReturnType<typeof makeProbeStorage> },
) {
  const { probeStorage, clock } = deps;
  const refOf = (event: ReactionEvent<StorageTestStarted>) => ({
    storageId: streamIdOf(event),
    testId: event.data.test_id,
  });
  return on(storageAggregate, ['StorageTestStarted'], {
    name: 'probe-storages',
    // A slow endpoint keeps a slot for 18 s. With few slots the tests of other storages would time out in the queue.
    atOnceMax: 64,
    // Beyond a minute a test fails, so one with a timer does not run.
    hasTimers: true,
    account: (event) => probeStorage.accountOf(streamIdOf(event)),
    isDue: (_, event) => probeStorage.isRunning(refOf(event)),
    // A test that a crash or a pause delayed this long fails and does not run: its owner has waited long enough.
    perform: async (event, signal) =>
      clock.now().getTime() - event.recordedAt.getTime() >= testLeaseMs
        ? timedOut
        : probeStorage.probe(refOf(event), signal),
    run: async (_, context, event, result: TestResult | undefined) => {
      if (result !== undefined) await probeStorage.finish(refOf(event), result, context);
    },
  });
}
