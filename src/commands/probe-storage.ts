import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { storageAggregate } from '../domain/storage/storage.js';
import type { TestFailure } from '../domain/storage/test-failure.js';
import type { ProbeStorage as Probe } from '../integrations/object-storage/probe.js';
import type { OpenStorage } from './open-storage.js';

export interface StorageTestRef {
  readonly storageId: string;
  readonly testId: string;
}

/** How a test of a storage is carried through, step by step. */
export interface ProbeStorage {
  /** Whether the test still waits for its result. */
  isRunning(test: StorageTestRef): Promise<boolean>;
  /** Speaks to the storage. Null: all is well; undefined: the test is over meanwhile. */
  probe(test: StorageTestRef, signal: AbortSignal): Promise<TestFailure | null | undefined>;
  /** Records the result. Repeating it changes nothing. */
  finish(test: StorageTestRef, failure: TestFailure | null, context: CommandContext): Promise<void>;
}

export function makeProbeStorage({
  handler,
  openStorage,
  probe,
}: {
  readonly handler: CommandHandler;
  readonly openStorage: OpenStorage;
  readonly probe: Probe;
}): ProbeStorage {
  return {
    isRunning: async ({ storageId, testId }) => {
      const { state } = await handler.load(storageAggregate, storageId);
      return state.status !== 'absent' && state.status !== 'deleted' && state.test?.testId === testId;
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
