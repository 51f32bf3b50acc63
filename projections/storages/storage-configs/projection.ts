import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import { defaultDelivery, type DeliveryMode } from '../../../src/areas/storages/domain/delivery/delivery.js';
import {
  storageCodec,
  type StorageEvent,
  storageCategory,
} from '../../../src/areas/storages/domain/storage/events.js';
import {
  applyEvent,
  isUnderWay,
  newStorage,
  type StorageFields,
} from '../../../src/areas/storages/domain/storage/fold.js';
import { withoutFields } from '../../../src/validation/fields.js';
import type { CdnTokenShown, StorageResource } from './resource.js';
import { describeFailure } from '../../../src/areas/storages/domain/delivery/test-failure.js';

/** A storage without its credentials, which only the log contains, and without `is_default`, a fact of the project. */
export type StorageDocument = StorageFields &
  Readonly<Omit<StorageResource, 'id' | 'is_default' | 'warnings'>> & {
    readonly delivery: DeliveryMode;
    readonly cdn_token: CdnTokenShown | null;
  };

function evolve(document: StorageDocument | null, event: Recorded<StorageEvent>): StorageDocument | null {
  if (event.type === 'StorageCreated') {
    const { provider, credentials } = event.data;
    return {
      ...withoutFields(event.data, ['credentials', 'credentials_version']),
      delivery: defaultDelivery(provider),
      cdn_token: null,
      ...newStorage,
      last_test_at: null,
      last_error: '',
      has_credentials: Object.keys(credentials).length > 0,
      created_at: event.time,
      updated_at: event.time,
    };
  }
  if (document === null || event.type === 'StorageDeleted') return null;
  return { ...document, ...changeOf(document, event) };
}

function changeOf(
  document: StorageDocument,
  event: Exclude<Recorded<StorageEvent>, { type: 'StorageCreated' | 'StorageDeleted' }>,
): Partial<StorageDocument> {
  const fields = applyEvent(document, document, event);
  const touched = { ...fields, updated_at: event.time };
  switch (event.type) {
    case 'StorageChanged':
      return { ...event.data, ...touched };
    case 'StorageDeliveryChanged':
      return { ...touched, delivery: event.data.mode, cdn_token: shownToken(event.data.token) };
    case 'StorageTestStarted':
      // The test of a candidate changes no field that a client sees.
      return event.data.candidate === null ? touched : fields;
    case 'StorageTestSucceeded':
    case 'StorageTestFailed': {
      if (!isUnderWay(document, event.data.test_id)) return {};
      const last_error = event.type === 'StorageTestFailed' ? describeFailure(event.data) : '';
      return { ...touched, last_test_at: event.time, last_error };
    }
    case 'StorageCredentialsReplaced':
    case 'StorageCorsSet':
    case 'StorageDisabled':
    case 'StorageEnabled':
      return touched;
  }
}

/** Returns the token without its keys. */
function shownToken(
  token: Extract<StorageEvent, { type: 'StorageDeliveryChanged' }>['data']['token'],
): StorageDocument['cdn_token'] {
  return token === null ? null : { scheme: token.scheme, valid_seconds: token.valid_seconds };
}

export const storageConfigsProjection: Projection<StorageDocument, StorageEvent> = {
  name: 'storage_configs',
  version: 7,
  category: storageCategory,
  codec: storageCodec,
  indexes: ['project_id', 'bucket'],
  evolve,
};
