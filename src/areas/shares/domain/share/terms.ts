import { isDeepStrictEqual } from 'node:util';
import { checkAll, invalid } from '../../../../validation/field-problems.js';
import { checkName, checkText } from '../../../../validation/text.js';
import { type ShareTerms, shareTerms } from './events.js';

/** The terms of a share whose maker names none. */
export const defaultTerms: ShareTerms = {
  ...{ expires_at: null, max_uses: null, title: null, note: null, frame_ancestors: [] },
  ...{ allow_download: true, notify_sharer: true, show_sender: false },
};

/** In characters. */
export const shareTitleMax = 120;
export const shareNoteMax = 2_000;

/** Checks that the end of a share is in the future; null: no end. @throws CommandRejected invalid_request */
export function checkShareEnd(end: string | null, now: Date): string | null {
  if (end !== null && new Date(end) <= now) invalid('expires_at', 'must be in the future', 'too_small');
  return end;
}

/** The lives of shares that callers name instead of an end, in ms (docs/shares.md#terms). */
export const shareLives = {
  '1h': 3_600_000,
  '1d': 86_400_000,
  '7d': 7 * 86_400_000,
  '30d': 30 * 86_400_000,
} as const;

/** Checks the title of a share and trims it; null and blank: no title. @throws CommandRejected invalid_request */
export function checkShareTitle(title: string | null): string | null {
  return title === null || title.trim() === '' ? null : checkName(title, '', shareTitleMax);
}

/** Checks the note of a share and trims it; null and blank: no note. @throws CommandRejected invalid_request */
export function checkShareNote(note: string | null): string | null {
  return note === null || note.trim() === '' ? null : checkText(note, '', shareNoteMax);
}

/**
 * Normalises the origins of pages that may frame a share: `https://<host>` with an optional port, where the host may begin
 * with `*.` before a name of two labels (CSP Level 3, `host-source`).
 * @throws CommandRejected invalid_request
 */
export function checkFraming(origins: readonly string[]): string[] {
  return [...new Set(checkAll(origins, (origin, index) => frameAncestor(origin, `${index}`)))];
}

/** Checks that chosen assets are distinct. @throws CommandRejected invalid_request */
export function checkSharedAssets(ids: string[]): string[] {
  if (new Set(ids).size < ids.length) invalid('', 'must be distinct', 'repeated');
  return ids;
}

/** A name of two labels or more (RFC 1123, section 2.1), maybe below a wildcard, and a port. */
const originPattern =
  /^https:\/\/(\*\.)?((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)(?::(\d{1,5}))?$/;
const hostMax = 253;

function frameAncestor(origin: string, field: string): string {
  const [, wildcard = '', host = '', port] = originPattern.exec(origin.toLowerCase()) ?? [];
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
  if (host === '' || host.length > hostMax || !isPort)
    invalid(field, 'must be an origin such as https://www.example.com or https://*.example.com');
  return `https://${wildcard}${host}${port === undefined || Number(port) === 443 ? '' : `:${Number(port)}`}`;
}

/** Returns all terms after a change of some; null if none of them changes. */
export function changedTerms(share: ShareTerms, changes: Partial<ShareTerms>): ShareTerms | null {
  const before = shareTerms.strip().parse(share);
  const after = { ...before, ...changes };
  return isDeepStrictEqual(before, after) ? null : after;
}
