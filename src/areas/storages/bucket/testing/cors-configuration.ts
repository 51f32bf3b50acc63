/*
 * The CORS configuration of a bucket, in the XML that S3, OSS and COS share (Amazon S3, "PutBucketCors"; Alibaba OSS,
 * "PutBucketCors"; Tencent COS, "PUT Bucket cors").
 */

/** Writes a `<CORSRule>` for the origins. The other parts of the rule are the same each time. */
export type WriteCorsRule = (origins: readonly string[]) => string;

/**
 * Adds a rule for the origins to a configuration. Rules of others stay as they are, in their order. If a rule differs from
 * the wanted one only in its origins, it gets the missing origins in place of a second rule.
 * @param present the configuration of the bucket; null if it has none
 * @returns the new configuration; `unchanged` if a rule has all that is wanted; `unreadable` if the text is no whole
 * configuration, so that writing it back could lose a rule
 */
export function withCorsRule(
  present: string | null,
  origins: readonly string[],
  write: WriteCorsRule,
): { readonly is: 'changed'; readonly xml: string } | { readonly is: 'unchanged' | 'unreadable' } {
  const read = present === null ? { attributes: '', rules: [], others: '' } : readConfiguration(present);
  if (read === null) return { is: 'unreadable' };
  const { attributes, rules, others } = read;
  const wanted = write(origins);
  const index = rules.findIndex((rule) => factsOf(rule, isFixed) === factsOf(wanted, isFixed));
  const own = rules[index];
  const known = own === undefined ? [] : originsOf(own);
  if (own !== undefined && origins.every((origin) => known.includes(origin))) return { is: 'unchanged' };
  const all = write([...new Set([...known, ...origins])]);
  const merged = own === undefined ? [...rules, all] : rules.with(index, all);
  return {
    is: 'changed',
    xml: `<?xml version="1.0" encoding="UTF-8"?>\n<CORSConfiguration${attributes}>${merged.join('')}${others}</CORSConfiguration>`,
  };
}

interface Configuration {
  /** The name space, as the provider wrote it. */
  readonly attributes: string;
  /** Each `<CORSRule>` as the provider wrote it. */
  readonly rules: readonly string[];
  /** The other elements, such as `<ResponseVary>` of OSS. */
  readonly others: string;
}

function readConfiguration(text: string): Configuration | null {
  const match =
    /^\s*(?:<\?xml[^>]*\?>\s*)?<CORSConfiguration(\s[^>]*?)?(?:\/>|>([\s\S]*)<\/CORSConfiguration>)\s*$/.exec(
      text,
    );
  if (match === null) return null;
  const [, attributes = '', body = ''] = match;
  // A comment or a CDATA section could hide a rule, and a prefix would rename it.
  if (/<!|<\/?\w+:/.test(body)) return null;
  const rules: string[] = [];
  const others = body.replace(/<CORSRule>[\s\S]*?<\/CORSRule>/g, (rule) => {
    rules.push(rule);
    return '';
  });
  return { attributes, rules, others: others.trim() };
}

type Fact = readonly [name: string, value: string];

/** Returns the facts of a rule in a comparable form: providers add an id, and change the order. */
function factsOf(rule: string, counts: (fact: Fact) => boolean): string {
  return JSON.stringify(elementsOf(rule).filter(counts).map(String).sort());
}

function isFixed([name]: Fact): boolean {
  return name !== 'ID' && name !== 'AllowedOrigin';
}

function originsOf(rule: string): readonly string[] {
  return elementsOf(rule).flatMap(([name, value]) => (name === 'AllowedOrigin' ? [unescapeXml(value)] : []));
}

function elementsOf(rule: string): readonly Fact[] {
  return [...rule.matchAll(/<(\w+)>([^<]*)<\/\1>/g)].map(([, name = '', value = '']): Fact => [
    name,
    name === 'ExposeHeader' || name === 'AllowedHeader' ? value.trim().toLowerCase() : value.trim(),
  ]);
}

function unescapeXml(text: string): string {
  return text.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');
}
