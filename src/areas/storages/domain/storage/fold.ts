import { z } from 'zod';
import type { StorageConfiguration } from './configuration-fields.js';
import type { StorageEvent } from './events.js';
import type { TestWarning } from '../delivery/test-failure.js';

export const storageStatus = z.enum(['pending', 'testing', 'active', 'failed', 'disabled']);
type StorageStatus = z.infer<typeof storageStatus>;

export type StorageConnection = Pick<
  StorageConfiguration,
  'endpoint' | 'public_endpoint' | 'bucket' | 'region'
>;

/** The fields that a test depends on: it writes below the base path and reads through the domain. */
export type TestedConfiguration = StorageConnection & Pick<StorageConfiguration, 'base_path' | 'cdn_domain'>;

/** The fields that the aggregate and the view both fold. */
export type StorageFields = {
  readonly status: StorageStatus;
  /** The test under way. `of_candidate`: it tests other values, while the present ones go on serving. */
  readonly test: { readonly id: string; readonly of_candidate: boolean } | null;
  /** What the last passed test of the present connection found. */
  readonly warnings: readonly TestWarning[];
};

type TestedStatus = Pick<StorageFields, 'status' | 'test'>;

export const newStorage: StorageFields = { status: 'pending', test: null, warnings: [] };

/**
 * Returns the fields after the event.
 * @param present the configuration before the event
 */
export function applyEvent(
  before: StorageFields,
  present: TestedConfiguration,
  event: FieldEvent,
): StorageFields {
  return { ...statusAfter(before, present, event), warnings: warningsAfter(before, present, event) };
}

type FieldEvent = Exclude<StorageEvent, { type: 'StorageCreated' | 'StorageDeleted' }>;

function warningsAfter(
  before: StorageFields,
  present: TestedConfiguration,
  event: FieldEvent,
): StorageFields['warnings'] {
  const { warnings, test } = before;
  switch (event.type) {
    case 'StorageTestSucceeded':
      return isUnderWay(before, event.data.test_id) ? event.data.warnings : warnings;
    case 'StorageTestFailed':
      return isUnderWay(before, event.data.test_id) && test?.of_candidate === false ? [] : warnings;
    case 'StorageChanged':
      return sameConnection(present, event.data) ? warnings : [];
    case 'StorageCorsSet': {
      const { refused: origins } = event.data;
      const others = warnings.filter(({ code }) => code !== 'cors_missing');
      return origins.length === 0 ? others : [{ code: 'cors_missing', origins, cause: null }, ...others];
    }
    case 'StorageEnabled':
      return [];
    case 'StorageCredentialsReplaced':
    case 'StorageDeliveryChanged':
    case 'StorageTestStarted':
    case 'StorageDisabled':
      return warnings;
  }
}

function statusAfter(before: StorageFields, present: TestedConfiguration, event: FieldEvent): TestedStatus {
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
      return { status: 'pending', test: null };
    case 'StorageCorsSet':
      return { status, test };
  }
}

/** Returns whether the result of this test counts. That of a superseded or cancelled test does not. */
export function isUnderWay({ test }: Pick<StorageFields, 'test'>, testId: string): boolean {
  return test?.id === testId;
}

export function sameConnection(one: StorageConnection, other: StorageConnection): boolean {
  return (
    one.endpoint === other.endpoint &&
    one.public_endpoint === other.public_endpoint &&
    one.bucket === other.bucket &&
    one.region === other.region
  );
}

function samePaths(one: TestedConfiguration, other: TestedConfiguration): boolean {
  return one.base_path === other.base_path && one.cdn_domain === other.cdn_domain;
}

/** Cancels a running test, which proves nothing for other paths or another delivery. An earlier result still holds. */
function invalidateRunningTest({ status, test }: TestedStatus): TestedStatus {
  return test === null ? { status, test } : invalidateTest({ status, test });
}

/** Back to pending, unless disabled; a candidate's test goes on. */
function invalidateTest({ status, test }: TestedStatus): TestedStatus {
  // An append contains the values of a passed candidate before StorageTestSucceeded, which needs the test.
  if (test?.of_candidate === true) return { status, test };
  return { status: status === 'disabled' ? 'disabled' : 'pending', test: null };
}
