import { CommandRejected } from '../../event-sourcing/errors.js';

export type StorageRejection =
  | 'entitlement_required'
  | 'storage_limit_reached'
  /** There is no such storage, or there is none any more. */
  | 'storage_not_found'
  /** A test of other values is under way; one at a time. */
  | 'storage_test_running'
  | 'storage_disabled'
  /** Somebody else was faster. */
  | 'storage_credentials_replaced'
  /** Only an active storage can do this. */
  | 'storage_not_active'
  /** Other storages exist, or assets are kept in it. */
  | 'storage_in_use';

export function rejectStorage(code: StorageRejection, message: string): never {
  throw new CommandRejected<StorageRejection>(code, message);
}
