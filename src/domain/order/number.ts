// Crockford's base 32, which platforms, people and telephones carry unharmed.
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const length = 26;
const pattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** An order's number, 26 characters: its id in Crockford's base 32, so that a callback leads to its stream (DESIGN 3, Callbacks). */
export function orderNumber(orderId: string): string {
  let rest = BigInt(`0x${orderId.replaceAll('-', '')}`);
  let digits = '';
  for (let index = 0; index < length; index += 1) {
    digits = alphabet.charAt(Number(rest & 31n)) + digits;
    rest >>= 5n;
  }
  return digits;
}

/** The order's id, or null for what is no number of ours. */
export function parseOrderNumber(number: string): string | null {
  const text = number.toUpperCase();
  if (!pattern.test(text)) return null;
  let value = 0n;
  for (const digit of text) value = (value << 5n) | BigInt(alphabet.indexOf(digit));
  const hex = value.toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
