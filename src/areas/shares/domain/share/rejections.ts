import { CommandRejected, TargetNotFound } from '../../../../event-sourcing/ports/errors.js';

export type ShareRejection =
  /** Unknown, expired, revoked, used up, or without a serving storage: src/areas/shares/README.md#share-verification. */
  | 'share_not_found'
  /** The password is wrong, or the session that it opened has ended. */
  | 'share_password_wrong'
  /** The share does not open for visitors at the moment, so its link is not mailed. */
  | 'share_not_open'
  /** The share does not show the asset that a visitor saves. */
  | 'shared_asset_not_found'
  /** The share allows no downloads. */
  | 'downloads_off'
  /** The project allows no shares without a password. */
  | 'open_shares_off'
  /** The password is not the one that the caller checked. */
  | 'share_password_changed';

export function rejectShare(code: ShareRejection, message: string): never {
  throw new CommandRejected<ShareRejection>(code, message);
}

/** Why a share opens no more. */
export type ShareEnding = 'used_up' | 'expired' | 'withdrawn';

const endings: Readonly<Record<ShareEnding, string>> = {
  used_up: 'the share has been opened as often as it may be',
  expired: 'the share has expired',
  withdrawn: 'the share was withdrawn',
};

/** @param ending null: the caller must not learn it */
export function shareNotFound(ending: ShareEnding | null = null): never {
  const message = ending === null ? 'the share does not exist' : endings[ending];
  throw new TargetNotFound<ShareRejection>('share_not_found', message, ending);
}
