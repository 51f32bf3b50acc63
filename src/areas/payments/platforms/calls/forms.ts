import { turnBytesMax } from '../../../../kit/read-in-turns.js';

/** Form fields by name, with one character per byte (Latin-1), so a text signed in any charset keeps its bytes. */
export type Form = ReadonlyMap<string, string>;

const fieldsMax = 100;
/** Notifications have some KiB. A form is read at once. */
const formBytesMax = turnBytesMax;

/** Parses a form. Empty pairs are left out (WHATWG URL, 5.1). Null for a repeated or empty name, a broken escape, or more than 100 fields or 64 KiB. */
export function parseForm(bytes: Buffer): Form | null {
  if (bytes.length > formBytesMax) return null;
  const form = new Map<string, string>();
  const parts = bytes
    .toString('latin1')
    .split('&')
    .filter((part) => part !== '');
  if (parts.length > fieldsMax) return null;
  for (const part of parts) {
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = decode(equals < 0 ? '' : part.slice(equals + 1));
    if (name === null || value === null || name === '' || form.has(name)) return null;
    form.set(name, value);
  }
  return form;
}

/** Decodes a name or a value in one pass over its bytes. */
function decode(text: string): string | null {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return null;
  const bytes = Buffer.from(text, 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    let byte = bytes[at] ?? 0;
    if (byte === plus) byte = space;
    else if (byte === percent) {
      byte = 16 * hexDigit(bytes[at + 1] ?? 0) + hexDigit(bytes[at + 2] ?? 0);
      at += 2;
    }
    bytes[length] = byte;
    length += 1;
  }
  return bytes.toString('latin1', 0, length);
}

const [plus, space, percent] = [0x2b, 0x20, 0x25];

/** @param code the character code of a hexadecimal digit */
function hexDigit(code: number): number {
  return code < 0x40 ? code - 0x30 : (code & 0x0f) + 9;
}

/** Builds the text that these platforms sign: `name=value` sorted by name, joined by `&`, without escaping. */
export function signedText(form: Form, names: readonly string[]): string {
  const sorted = [...names].sort();
  return sorted.map((name) => `${name}=${form.get(name) ?? ''}`).join('&');
}

/**
 * Detects ambiguity: without escaping, a genuine `name=x&out_trade_no=y` and two fields have the same signed text. It passes
 * each value once. @param names without `&` and `=`
 */
export function isAmbiguous(form: Form, names: Iterable<string>): boolean {
  const known = new Set(names);
  const longest = Math.max(...[...known].map(({ length }) => length));
  for (const value of form.values()) {
    let equals = 0;
    for (let at = value.indexOf('&'); at >= 0; at = value.indexOf('&', at + 1)) {
      if (equals <= at) equals = value.indexOf('=', at);
      if (equals < 0) break;
      if (equals - at - 1 <= longest && known.has(value.slice(at + 1, equals))) return true;
    }
  }
  return false;
}

/** More parts than any message of a platform. The search costs their square. */
const partsMax = 600;

/**
 * Returns whether no other reading of a signed text begins a used parameter in a value of the form. Without escaping, a value may contain
 * `&name=`. But the names of every reading ascend, as `signedText` sorts them, and no value of a plain name contains an `&`.
 * @param names the names of the form that the text has
 * @param plain names with such values, the used ones among them
 */
export function hasOneReading(
  form: Form,
  names: readonly string[],
  { used, plain }: { readonly used: ReadonlySet<string>; readonly plain: ReadonlySet<string> },
): boolean {
  const parts = signedText(form, names).split('&');
  if (parts.length > partsMax) return false;
  const nameAt = parts.map((part) => part.slice(0, Math.max(0, part.indexOf('='))));
  const ours = beginningsOf(form, names, used);
  const others = nameAt.map((name, at) => used.has(name) && !ours.has(at));
  // The parts at which a reading has begun its last parameter, and those where such a reading differs from ours.
  const begun = new Set([0]);
  const differing = new Set<number>();
  return nameAt.every((name, from) => {
    const isPlain = plain.has(name);
    const ends = isPlain ? Math.min(from + 2, parts.length) : parts.length;
    const next = begun.has(from) ? nameAt.slice(from + 1, ends) : [];
    for (const [skipped, after] of next.entries()) {
      const to = from + 1 + skipped;
      if (after <= name) continue;
      begun.add(to);
      if (differing.has(from) || others[to] === true) differing.add(to);
    }
    // A reading may end here unless the value would have an ampersand that it must not have.
    return !differing.has(from) || (isPlain && from + 1 < parts.length);
  });
}

/** Returns the parts of the signed text at which the used parameters of the form begin. */
function beginningsOf(form: Form, names: readonly string[], used: ReadonlySet<string>): ReadonlySet<number> {
  const found = new Set<number>();
  let at = 0;
  for (const name of [...names].sort()) {
    if (used.has(name)) found.add(at);
    at += (form.get(name) ?? '').split('&').length;
  }
  return found;
}
