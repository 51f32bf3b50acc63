// Crockford's base 32 has no letters that people confuse.
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const length = 26;
const pattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Returns an order's number: its id in 26 characters, by which a callback finds the stream. */
export function orderNumber(orderId: string): string {
  let rest = BigInt(`0x${orderId.replaceAll('-', '')}`);
  let digits = '';
  for (let index = 0; index < length; index += 1) {
    digits = alphabet.charAt(Number(rest & 31n)) + digits;
    rest >>= 5n;
  }
  return digits;
}

/** Returns whether a number is ours. */
export function isOrderNumber(number: string): boolean {
  return pattern.test(number.toUpperCase());
}

/** Returns the order's id, or null if the number is not ours. */
export function parseOrderNumber(number: string): string | null {
  const text = number.toUpperCase();
  if (!pattern.test(text)) return null;
  let value = 0n;
  for (const digit of text) value = (value << 5n) | BigInt(alphabet.indexOf(digit));
  const hex = value.toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
