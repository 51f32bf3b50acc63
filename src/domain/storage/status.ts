import { z } from 'zod';
import type { StorageConfiguration } from './configuration-fields.js';
import type { StorageEvent } from './events.js';

export const storageStatus = z.enum(['pending', 'testing', 'active', 'failed', 'disabled']);
export type StorageStatus = z.infer<typeof storageStatus>;

export type StorageConnection = Pick<StorageConfiguration, 'endpoint' | 'bucket' | 'region'>;

/** The fields that a test depends on: it writes below the base path and reads through the domain. */
export type TestedConfiguration = StorageConnection & Pick<StorageConfiguration, 'base_path' | 'cdn_domain'>;

/** The fields that the aggregate and the view both fold. */
export type StorageFields = {
  readonly status: StorageStatus;
  /** The test under way. `of_candidate`: it tests other values, while the present ones go on serving. */
  readonly test: { readonly id: string; readonly of_candidate: boolean } | null;
};

export const newStorage: StorageFields = { status: 'pending', test: null };

/**
 * Returns the fields after the event.
 * @param present the configuration before the event
 */
export function applyEvent(
  before: StorageFields,
  present: TestedConfiguration,
  event: Exclude<StorageEvent, { type: 'StorageCreated' | 'StorageDeleted' }>,
): StorageFields {
  const { status, test } = before;
  switch (event.type) {
    case 'StorageChanged':
      if (!sameConnection(present, event.data)) return invalidateTest(before);
      return samePaths(present, event.data) ? { status, test } : invalidateRunningTest(before);
    case 'StorageCredentialsReplaced':
      return invalidateTest(before);
    case 'StorageDeliveryChanged':
      return invalidateRunningTest(before);
    case 'StorageTestStarted': {
      const { test_id: id, candidate } = event.data;
      if (candidate === null) return { status: 'testing', test: { id, of_candidate: false } };
      return { status, test: { id, of_candidate: true } };
    }
    case 'StorageTestSucceeded':
      return isUnderWay(before, event.data.test_id) ? { status: 'active', test: null } : { status, test };
    case 'StorageTestFailed':
      if (test?.id !== event.data.test_id) return { status, test };
      return { status: test.of_candidate ? status : 'failed', test: null };
    case 'StorageDisabled':
      return { status: 'disabled', test: null };
    case 'StorageEnabled':
      return newStorage;
  }
}

/** Returns whether the result of this test counts. That of a superseded or cancelled test does not. */
export function isUnderWay({ test }: StorageFields, testId: string): boolean {
  return test?.id === testId;
}

export function sameConnection(one: StorageConnection, other: StorageConnection): boolean {
  return one.endpoint === other.endpoint && one.bucket === other.bucket && one.region === other.region;
}

function samePaths(one: TestedConfiguration, other: TestedConfiguration): boolean {
  return one.base_path === other.base_path && one.cdn_domain === other.cdn_domain;
}

/** Cancels a running test, which proves nothing for other paths or another delivery. An earlier result still holds. */
function invalidateRunningTest({ status, test }: StorageFields): StorageFields {
  return test === null ? { status, test } : invalidateTest({ status, test });
}

/** Back to pending, unless disabled; a candidate's test goes on. */
function invalidateTest({ status, test }: StorageFields): StorageFields {
  // An append contains the values of a passed candidate before StorageTestSucceeded, which needs the test.
  if (test?.of_candidate === true) return { status, test };
  return { status: status === 'disabled' ? 'disabled' : 'pending', test: null };
}
