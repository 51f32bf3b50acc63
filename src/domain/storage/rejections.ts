import { CommandRejected } from '../../event-sourcing/errors.js';

export type StorageRejection = 'entitlement_required' | 'storage_limit_reached';

export function rejectStorage(code: StorageRejection, message: string): never {
  throw new CommandRejected<StorageRejection>(code, message);
}
