/** Returns the text of the first element with the name, without its entities and outer white space; null without one. */
export function xmlText(xml: string, name: string): string | null {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  if (text === undefined) return null;
  return text.replace(/&([^;]{1,6});/g, (whole, entity: string) => entities[entity] ?? whole);
}

/**
 * Returns what the elements with the name contain, in order; null where one does not end, or where there are more than `max`.
 * It passes the text once: the server that wrote it may be hostile.
 */
export function xmlElements(xml: string, name: string, max: number): readonly string[] | null {
  const [open, close] = [`<${name}>`, `</${name}>`];
  const found: string[] = [];
  for (let at = xml.indexOf(open); at >= 0; at = xml.indexOf(open, at)) {
    const end = xml.indexOf(close, at);
    if (end < 0 || found.length === max) return null;
    found.push(xml.slice(at + open.length, end));
    at = end + close.length;
  }
  return found;
}

const entities: Readonly<Record<string, string>> = {
  ...{ quot: '"', '#34': '"', lt: '<', gt: '>', apos: "'", amp: '&', '#39': "'" },
};
