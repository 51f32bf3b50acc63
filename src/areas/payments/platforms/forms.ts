/** Form fields by name, with one character per byte (Latin-1), so a text signed in any charset keeps its bytes. */
export type Form = ReadonlyMap<string, string>;

const fieldsMax = 100;

/** Parses a form. Returns null for a repeated or empty name, a broken escape, or more than 100 fields. */
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

/** Builds the text that these platforms sign: `name=value` sorted by name, joined by `&`, without escaping. */
export function signedText(form: Form, names: readonly string[]): string {
  const sorted = [...names].sort();
  return sorted.map((name) => `${name}=${form.get(name) ?? ''}`).join('&');
}

/** Detects ambiguity: without escaping, a genuine `name=x&out_trade_no=y` and two fields have the same signed text. */
export function isAmbiguous(form: Form, names: Iterable<string>): boolean {
  const values = [...form.values()].filter((value) => value.includes('&'));
  for (const name of names) if (values.some((value) => value.includes(`&${name}=`))) return true;
  return false;
}
