import { isDeepStrictEqual } from 'node:util';
import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import { checkAll, invalid } from '../../../../validation/invalid-request.js';
import { checkName, checkText } from '../../../../validation/text.js';
import { frameAncestorsMax } from './events.js';
import { type ShareFields, type StoredTerms, termsOf } from './fold.js';

/** The terms that a command sets. */
export interface ShareTerms {
  readonly expiresAt: Date | null;
  readonly maxUses: number | null;
  readonly allowDownload: boolean;
  readonly title: Sealed | null;
  readonly note: Sealed | null;
  readonly frameAncestors: readonly string[];
  readonly notifySharer: boolean;
  readonly showSender: boolean;
}

/** In characters. */
export const shareTitleMax = 120;
export const shareNoteMax = 2_000;

/** Checks that the end of a share is in the future; null: no end. @throws CommandRejected invalid_request */
export function checkShareEnd(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt !== null && expiresAt <= now) invalid('expires_at', 'must be in the future', 'too_small');
  return expiresAt;
}

/** The lives of shares that callers name instead of an end, in ms (docs/shares.md#terms). */
export const shareLives = {
  '1h': 3_600_000,
  '1d': 86_400_000,
  '7d': 7 * 86_400_000,
  '30d': 30 * 86_400_000,
} as const;
export type ShareLife = keyof typeof shareLives;

/** Checks the title of a share and trims it; null and blank: no title. @throws CommandRejected invalid_request */
export function checkShareTitle(title: string | null, field = 'title'): string | null {
  return title === null || title.trim() === '' ? null : checkName(title, field, shareTitleMax);
}

/** Checks the note of a share and trims it; null and blank: no note. @throws CommandRejected invalid_request */
export function checkShareNote(note: string | null, field = 'note'): string | null {
  return note === null || note.trim() === '' ? null : checkText(note, field, shareNoteMax);
}

/**
 * Normalises the origins of pages that may frame a share: `https://<host>` with an optional port, where the host may begin
 * with `*.` before a name of two labels (CSP Level 3, `host-source`).
 * @throws CommandRejected invalid_request
 */
export function checkFrameAncestors(origins: readonly string[]): readonly string[] {
  const checked = [
    ...new Set(checkAll(origins, (origin, index) => frameAncestor(origin, `frame_ancestors.${index}`))),
  ];
  if (checked.length > frameAncestorsMax)
    invalid('frame_ancestors', `must be at most ${frameAncestorsMax}`, 'too_long');
  return checked;
}

/** A name of two labels or more (RFC 1123, section 2.1), maybe below a wildcard, and a port. */
const originPattern =
  /^https:\/\/(\*\.)?((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)(?::(\d{1,5}))?$/;
const hostMax = 253;

export function frameAncestor(origin: string, field: string): string {
  const [, wildcard = '', host = '', port] = originPattern.exec(origin.toLowerCase()) ?? [];
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
  if (host === '' || host.length > hostMax || !isPort) {
    invalid(field, 'must be an origin such as https://www.example.com or https://*.example.com');
  }
  return `https://${wildcard}${host}${port === undefined || Number(port) === 443 ? '' : `:${Number(port)}`}`;
}

/** Returns the terms as events store them. */
export function storedTerms(terms: ShareTerms): StoredTerms {
  return {
    expires_at: terms.expiresAt?.toISOString() ?? null,
    max_uses: terms.maxUses,
    allow_download: terms.allowDownload,
    title: terms.title,
    note: terms.note,
    frame_ancestors: [...terms.frameAncestors],
    notify_sharer: terms.notifySharer,
    show_sender: terms.showSender,
  };
}

/** Returns all terms after a change of some; null if none of them changes. */
export function changedTerms(share: ShareFields, changes: Partial<ShareTerms>): StoredTerms | null {
  const before = termsOf(share);
  const after = storedTerms({
    expiresAt: before.expires_at === null ? null : new Date(before.expires_at),
    maxUses: before.max_uses,
    allowDownload: before.allow_download,
    title: before.title,
    note: before.note,
    frameAncestors: before.frame_ancestors,
    notifySharer: before.notify_sharer,
    showSender: before.show_sender,
    ...changes,
  });
  return isDeepStrictEqual(before, after) ? null : after;
}
