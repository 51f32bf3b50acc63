import type { OutgoingReply } from '../../../../outgoing/outgoing-http.js';
import { type Fields, readJsonObject, textAt } from './parsing.js';
import { PlatformError } from '../payment-maker.js';

/**
 * Returns the object of a successful reply. A refusal of our credentials is `unavailable`: an operator must cure it.
 * @param codePaths where an error reply has its code, the best first
 * @throws PlatformError refused, unavailable, outcome_unknown
 */
export async function fieldsOfReply(
  { status, body }: OutgoingReply,
  codePaths: readonly string[],
): Promise<Fields> {
  const fields = await readJsonObject(body);
  if (status >= 200 && status < 300) return fields ?? unreadableReply();
  throw refusalOf(
    status,
    codePaths.map((path) => textAt(fields, path)),
  );
}

/** Returns the failure that an error reply means. @param codes what it names as its code, the best first */
export function refusalOf(status: number, codes: readonly (string | null)[]): PlatformError {
  const code = codes.map(platformCode).find((found) => found !== null);
  const isOurs = status === 401 || status === 403;
  return new PlatformError(isOurs ? 'unavailable' : 'refused', code ?? `status_${status}`);
}

/** A successful reply without what it must have: the platform may have done what it was asked. */
export function unreadableReply(): never {
  throw new PlatformError('outcome_unknown', 'unreadable_reply');
}

/** A URL that the platform gives a buyer. @throws PlatformError outcome_unknown */
export function httpsUrlOf(text: string | null): string {
  return text !== null && URL.canParse(text) && text.startsWith('https://') ? text : unreadableReply();
}

/** A code is a word. Other text of a platform may contain personal data. */
export function platformCode(text: string | null): string | null {
  return text !== null && /^[A-Za-z0-9_.-]{1,64}$/.test(text) ? text : null;
}
