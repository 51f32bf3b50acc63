import type { Deprecation } from '../route-spec.js';

/** A deprecated operation is served for at least this time: docs/design.md#versions-of-the-api. */
const noticeMs = 182 * 24 * 60 * 60 * 1_000;

/** Returns the headers of every reply of a deprecated operation: RFC 9745, 2.1 and 3, and RFC 8594, 3. Names are in lower case. */
export function deprecationHeaders({ since, ends, link }: Deprecation): Readonly<Record<string, string>> {
  return {
    deprecation: `@${Math.floor(since.getTime() / 1_000)}`,
    sunset: ends.toUTCString(),
    link: `<${link}>; rel="deprecation"; type="text/html"`,
  };
}

/** Returns the problems of a declared deprecation. */
export function problemsOfDeprecation({ since, ends, link }: Deprecation): string[] {
  const hasNotice = ends.getTime() - since.getTime() >= noticeMs;
  return [
    ...(hasNotice ? [] : ['is deprecated for less than 182 days before its end']),
    ...(URL.canParse(link) && /^[\x21\x23-\x3b\x3d\x3f-\x7e]+$/.test(link)
      ? []
      : ['has no URL for its deprecation']),
  ];
}

/** Says for people that an operation will end. */
export function describeDeprecation({ since, ends, link }: Deprecation): string {
  const day = (time: Date): string => time.toISOString().slice(0, 10);
  return `Deprecated since ${day(since)}. It ends on ${day(ends)}. See ${link}.`;
}
