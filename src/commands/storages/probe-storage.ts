import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { storageAggregate } from '../../domain/storage/storage.js';
import type { TestFailure } from '../../domain/storage/test-failure.js';
import type { OpenStorage } from './open-storage.js';

export interface StorageTestRef {
  readonly storageId: string;
  readonly testId: string;
}

export interface ProbeStorage {
  /** Says whether the test still waits for its result. */
  isRunning(test: StorageTestRef): Promise<boolean>;
  /** Probes the storage. Returns null when it passes, undefined when the test is already over. */
  probe(test: StorageTestRef, signal: AbortSignal): Promise<TestFailure | null | undefined>;
  /** Records the result; a repetition changes nothing. */
  finish(test: StorageTestRef, failure: TestFailure | null, context: CommandContext): Promise<void>;
}

export function makeProbeStorage({
  handler,
  openStorage,
  probe,
}: Pick<Deps, 'handler' | 'probe'> & {
  readonly openStorage: OpenStorage;
}): ProbeStorage {
  return {
    isRunning: async ({ storageId, testId }) => {
      const { state } = await handler.load(storageAggregate, storageId);
      return state.status !== 'absent' && state.status !== 'deleted' && state.test?.id === testId;
    },

    probe: async ({ storageId, testId }, signal) => {
      const opened = await openStorage.tested(storageId, testId);
      if (opened === null) return undefined;
      const { storage, urls } = opened;
      const { base_path: basePath, cdn_domain: cdnDomain } = storage.configuration;
      const cdn = cdnDomain === '' ? null : storage.delivery;
      return probe({ urls, basePath, cdn }, signal);
    },

    finish: async ({ storageId, testId }, failure, context) => {
      const target = { aggregate: storageAggregate, id: storageId };
      await handler.handle(target, { type: 'FinishTest', testId, failure }, context);
    },
  };
}
