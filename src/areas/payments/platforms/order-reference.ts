const digit = '[0-9A-HJKMNP-TV-Z]';

/** An order's number is a UUID in Crockford's base 32 (src/areas/payments/README.md#callbacks). */
const anyNumber = new RegExp(`^[0-7]${digit}{25}$`, 'i');
/** A UUIDv7 has the version in the 11th digit and the variant in the 14th. Other ids, for example ULIDs, rarely have both. */
const ourNumber = new RegExp(`^[0-7]${digit}{9}[EF]${digit}{2}[89ABRSTV]${digit}{12}$`, 'i');

/**
 * Returns the first candidate that looks like a number of ours. A shop may use a field of the platform for another id,
 * and give our number in a later field. Without one, returns the first candidate, which leads to no order; null without
 * any.
 */
export function orderReference(...candidates: readonly (string | null)[]): string | null {
  const given = candidates.filter((candidate) => candidate !== null);
  const named = (shape: RegExp) => given.find((candidate) => shape.test(candidate));
  return named(ourNumber) ?? named(anyNumber) ?? given[0] ?? null;
}
