import { CommandRejected, TargetNotFound } from '../../../../event-sourcing/ports/errors.js';

export type StorageRejection =
  | 'entitlement_required'
  | 'storage_limit_reached'
  /** The storage was never created, was deleted, or belongs to another project. */
  | 'storage_not_found'
  /** Another test is under way. One test runs at a time. */
  | 'storage_test_running'
  | 'storage_disabled'
  /** Another command has replaced the credentials first. */
  | 'storage_credentials_replaced'
  /** The bucket did not take the CORS rule. The message begins with the cause. */
  | 'storage_cors_refused'
  /** Only an active storage can become the default. */
  | 'storage_not_active'
  /** It is the default while other storages exist, or it contains assets. */
  | 'storage_in_use';

export function rejectStorage(code: StorageRejection, message: string): never {
  throw new CommandRejected<StorageRejection>(code, message);
}

export function storageNotFound(): never {
  throw new TargetNotFound<StorageRejection>('storage_not_found', 'the storage does not exist');
}
