import { escapeXml, readDocument, type XmlElement } from '../objects/xml.js';

/*
 * The CORS configuration of a bucket, in the XML that S3, OSS and COS share (Amazon S3, "PutBucketCors"; Alibaba OSS,
 * "PutBucketCors"; Tencent COS, "PUT Bucket cors").
 */

type Field = readonly [name: string, value: string];

/** Returns the fields of a rule for the origins: name and text of each element. Only those of the origins may differ. */
export type CorsRuleFor = (origins: readonly string[]) => readonly Field[];

/**
 * Adds a rule for the origins to a configuration. Rules of others keep all their elements and their order. If a rule differs
 * from the wanted one only in its origins, it gets the missing origins in place of a second rule.
 * @param present the configuration of the bucket; null if it has none
 * @returns the new configuration; `unchanged` if a rule has all that is wanted; `unreadable` if the text is no whole
 * configuration, or has what writing it back could lose
 */
export async function withCorsRule(
  present: Buffer | null,
  origins: readonly string[],
  ruleFor: CorsRuleFor,
): Promise<{ readonly is: 'changed'; readonly xml: string } | { readonly is: 'unchanged' | 'unreadable' }> {
  const root = present === null ? none : await readConfiguration(present);
  if (root === null) return { is: 'unreadable' };
  const rules = root.children.filter(isRule);
  const wanted = fixedOf(ruleFor(origins));
  const index = rules.findIndex((rule) => fixedOf(fieldsOf(rule)) === wanted);
  const own = rules[index];
  const known = own === undefined ? [] : originsOf(own);
  if (own !== undefined && origins.every((origin) => known.includes(origin))) return { is: 'unchanged' };
  const all = written(
    'CORSRule',
    ruleFor([...new Set([...known, ...origins])])
      .map(fieldXml)
      .join(''),
  );
  const merged = rules.map((rule) => (rule === own ? all : elementXml(rule)));
  const others = root.children.filter((child) => !isRule(child)).map(elementXml);
  const body = [...merged, ...(own === undefined ? [all] : []), ...others].join('');
  const namespace = root.namespace === '' ? '' : ` xmlns="${escapeXml(root.namespace)}"`;
  return {
    is: 'changed',
    xml: `<?xml version="1.0" encoding="UTF-8"?>\n<CORSConfiguration${namespace}>${body}</CORSConfiguration>`,
  };
}

const none: Pick<XmlElement, 'namespace' | 'children'> = { namespace: '', children: [] };

/** Returns null for a configuration with an attribute, or with a second name space. `elementXml` writes neither, so the bucket would lose it. */
async function readConfiguration(bytes: Buffer): Promise<XmlElement | null> {
  const root = await readDocument(bytes, 'CORSConfiguration');
  const isPlain = (element: XmlElement): boolean =>
    !element.hasAttributes && element.namespace === root?.namespace && element.children.every(isPlain);
  return root !== null && isPlain(root) && root.text.trim() === '' ? root : null;
}

function isRule({ name }: XmlElement): boolean {
  return name === 'CORSRule';
}

function fieldsOf({ children }: XmlElement): readonly Field[] {
  return children.map((child) => [
    child.name,
    child.children.length > 0 ? elementXml(child) : child.text.trim(),
  ]);
}

/** Returns the fields beside the origins in a comparable form: providers add an id, and change the order. */
function fixedOf(fields: readonly Field[]): string {
  const fixed = fields
    .filter(([name]) => name !== 'ID' && name !== 'AllowedOrigin')
    .map(([name, value]) => [name, name.endsWith('Header') ? value.toLowerCase() : value].join(' '));
  return JSON.stringify(fixed.sort());
}

function originsOf(rule: XmlElement): readonly string[] {
  return fieldsOf(rule).flatMap(([name, value]) => (name === 'AllowedOrigin' ? [value] : []));
}

function elementXml({ name, text, children }: XmlElement): string {
  return written(name, children.length > 0 ? children.map(elementXml).join('') : escapeXml(text));
}

function fieldXml([name, value]: Field): string {
  return written(name, escapeXml(value));
}

function written(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}
