import { createHmac } from 'node:crypto';

/**
 * Makes the function that derives a day's key of SigV4 or OSS V4: an HMAC-SHA-256 chain over the day and `parts`.
 * It caches the last key, because all URLs of a day share it.
 * @param prefix text before the secret in the first key
 */
export function makeDailyKey(
  prefix: string,
  secret: string,
  parts: readonly string[],
): (day: string) => Buffer {
  let known: { readonly day: string; readonly key: Buffer } | undefined;
  return (day) => {
    if (known?.day === day) return known.key;
    let key: Buffer = createHmac('sha256', prefix + secret)
      .update(day)
      .digest();
    for (const part of parts) key = createHmac('sha256', key).update(part).digest();
    known = { day, key };
    return key;
  };
}
