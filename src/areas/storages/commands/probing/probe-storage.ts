import { rejectedBy } from '../../../../kit/rejected-by.js';
import type { StorageDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { storageAggregate } from '../../domain/storage/storage.js';
import { type TestResult, testTimeMs } from '../../domain/storage/test-failure.js';
import type { OpenStorage } from '../open-storage.js';

export interface StorageTestRef {
  readonly storageId: string;
  readonly testId: string;
}

export interface ProbeStorage {
  /** Says whether the test still waits for its result. */
  isRunning(test: StorageTestRef): Promise<boolean>;
  /**
   * Probes the storage. Returns undefined when the test is already over. An error inside the test
   * is the failure `test_broken`, and a test without a result after 18 s is `probe_timeout`, so that no test hangs.
   * @throws the signal's reason: another process runs the test again
   */
  probe(test: StorageTestRef, signal: AbortSignal): Promise<TestResult | undefined>;
  /** Records the result; a repetition changes nothing. */
  finish(test: StorageTestRef, result: TestResult, context: CommandContext): Promise<void>;
}

export function makeProbeStorage({
  handler,
  openStorage,
  probe,
  onFailure,
  browserOrigins,
  timeMs = testTimeMs,
}: Pick<StorageDeps, 'handler' | 'probe' | 'onFailure' | 'browserOrigins'> & {
  readonly openStorage: OpenStorage;
  readonly timeMs?: number;
}): ProbeStorage {
  return {
    isRunning: async ({ storageId, testId }) => {
      const { state } = await handler.load(storageAggregate, storageId);
      return state.status !== 'absent' && state.status !== 'deleted' && state.test?.id === testId;
    },

    probe: async (test, signal) => {
      const timeUp = AbortSignal.timeout(timeMs);
      try {
        const result = await Promise.race([
          run(test, AbortSignal.any([signal, timeUp])),
          rejectedBy(timeUp),
          rejectedBy(signal),
        ]);
        // The end of the time breaks off the request that runs, which looks like a failure of the connection.
        return result?.failure != null && timeUp.aborted ? cutOff : result;
      } catch (error) {
        if (signal.aborted) throw error;
        if (timeUp.aborted) return cutOff;
        onFailure('a storage was not tested', error);
        return { failure: { code: 'test_broken', hint: null }, warnings: [] };
      }
    },

    finish: async ({ storageId, testId }, result, context) => {
      const target = { aggregate: storageAggregate, id: storageId };
      await handler.handle(target, { type: 'FinishTest', testId, result }, context);
    },
  };

  async function run(
    { storageId, testId }: StorageTestRef,
    signal: AbortSignal,
  ): Promise<TestResult | undefined> {
    const opened = await openStorage.tested(storageId, testId);
    if (opened === null) return undefined;
    const { storage, urls } = opened;
    const {
      provider,
      base_path: basePath,
      cdn_domain: cdnDomain,
      public_endpoint: publicEndpoint,
    } = storage.configuration;
    const cdn = cdnDomain === '' ? null : storage.delivery;
    const hasPublicEndpoint = publicEndpoint !== '';
    return probe({ urls, provider, basePath, cdn, hasPublicEndpoint, origins: browserOrigins }, signal);
  }
}

const cutOff: TestResult = { failure: { code: 'probe_timeout', hint: null }, warnings: [] };
