import { CommandRejected } from '../../event-sourcing/errors.js';

export type ShareRejection =
  /** Unknown, expired, revoked, used up, or its storage serves nothing: visitors cannot tell these apart (DESIGN 4.4). */
  | 'share_not_found'
  /** The password is wrong, or the session that it opened is over. */
  | 'share_password_wrong'
  /** The password is not the one that the caller has checked. */
  | 'share_password_changed';

export function rejectShare(code: ShareRejection, message: string): never {
  throw new CommandRejected<ShareRejection>(code, message);
}

export function shareNotFound(): never {
  return rejectShare('share_not_found', 'the share does not exist');
}
