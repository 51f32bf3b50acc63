import { createHmac } from 'node:crypto';

/**
 * Makes the function that derives a day's signing key, as SigV4 and OSS V4 do: an HMAC-SHA-256 chain over the day and the
 * parts of the scope. The last key is kept: all URLs of a day share it.
 * @param prefix what the secret is prefixed with
 * @param parts what follows the day in the chain
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
