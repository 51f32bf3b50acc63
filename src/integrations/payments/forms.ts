/**
 * Fields of a form (`application/x-www-form-urlencoded`) by name. Names and values hold one character per byte (Latin-1), so that
 * what was signed in any charset is the same bytes again.
 */
export type Form = ReadonlyMap<string, string>;

const fieldsMax = 100;

/**
 * The fields as they were sent: decoded once, `+` read as a space. Null where a name comes twice or is empty, an escape is broken,
 * or there are more than 100 fields.
 */
export function parseForm(bytes: Buffer): Form | null {
  const form = new Map<string, string>();
  const parts = bytes.length === 0 ? [] : bytes.toString('latin1').split('&', fieldsMax + 1);
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

function decode(text: string): string | null {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return null;
  return text
    .replaceAll('+', ' ')
    .replace(/%(..)/g, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The text that these platforms sign: `name=value` sorted by name, joined by `&`, nothing escaped. */
export function signedText(form: Form, names: readonly string[]): string {
  const sorted = [...names].sort();
  return sorted.map((name) => `${name}=${form.get(name) ?? ''}`).join('&');
}

/**
 * Whether a value could be read as further fields, which the signature would cover as well: where nothing is escaped, a genuine
 * `name=x&out_trade_no=y` may be split anew by whoever passes it on.
 */
export function isAmbiguous(form: Form, names: Iterable<string>): boolean {
  const values = [...form.values()].filter((value) => value.includes('&'));
  for (const name of names) if (values.some((value) => value.includes(`&${name}=`))) return true;
  return false;
}
