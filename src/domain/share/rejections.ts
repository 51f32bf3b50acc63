import { CommandRejected, TargetNotFound } from '../../event-sourcing/ports/errors.js';

export type ShareRejection =
  /** Unknown, expired, revoked, used up, or without a serving storage: docs/design.md#share-verification. */
  | 'share_not_found'
  /** The password is wrong, or the session that it opened has ended. */
  | 'share_password_wrong'
  /** The password is not the one that the caller checked. */
  | 'share_password_changed';

export function rejectShare(code: ShareRejection, message: string): never {
  throw new CommandRejected<ShareRejection>(code, message);
}

export function shareNotFound(): never {
  throw new TargetNotFound<ShareRejection>('share_not_found', 'the share does not exist');
}
