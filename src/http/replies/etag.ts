import { hash } from 'node:crypto';
import { invalid } from '../../validation/invalid-request.js';

/** Makes `"<revision>-<digest of the body>"`: `If-Match` needs the revision; the body may join other streams. */
export function resourceTag(revision: bigint, body: string): string {
  return `"${revision}-${digest(body)}"`;
}

/** Makes `"<digest of the body>"`, for replies that are no single resource. */
export function contentTag(body: string): string {
  return `"${digest(body)}"`;
}

/** Makes `W/"<digest>"`, for replies of which two are equivalent while what the tag covers is the same (RFC 9110, 8.8.3). */
export function weakTag(covered: string): string {
  return `W/${contentTag(covered)}`;
}

function digest(body: string): string {
  return hash('sha256', body, 'base64url').slice(0, 22);
}

/** Compares `If-None-Match` weakly (RFC 9110, 13.1.2). A malformed field matches nothing. */
export function matchesNone(field: string | undefined, tag: string): boolean {
  if (field === undefined) return false;
  if (field === tag || field.trim() === '*') return true;
  const opaque = asServed(tag);
  return field.split(',').some((one) => asServed(one.trim()) === opaque);
}

/** What proxies that compress a reply put behind its tag: Apache `-gzip`, Jetty `--gzip`, others `;gzip`. */
const compressed = '(?:--?|;)(?:gzip|br|deflate|zstd)';
const compressedTag = new RegExp(`${compressed}"$`);

/** Returns a tag as the service served it: proxies that compress also make it weak. */
function asServed(tag: string): string {
  return tag.replace(/^W\//, '').replace(compressedTag, '"');
}

const anyTag = '(?:W\\/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';

/** The values of `If-Match` that the service takes: entity tags (RFC 9110, 8.8.3), or `*`. */
export const ifMatchPattern = new RegExp(`^(?:\\*|${anyTag}(?:[ \\t]*,[ \\t]*${anyTag})*)$`);

const revisionInTag = new RegExp(`"(\\d{1,19})-[\\w-]{22}(?:${compressed})?"`, 'g');

/**
 * Returns the revisions that `If-Match` demands (RFC 9110, 13.1.1), one of which must be the current one; undefined for any.
 * Weak tags count too: a tag begins with its revision. @throws InvalidInput
 */
export function revisionsWanted(field: string | undefined): readonly bigint[] | undefined {
  if (field === undefined || field === '*') return undefined;
  if (!ifMatchPattern.test(field)) return invalid('header.If-Match', 'must be entity tags or *');
  return Array.from(field.matchAll(revisionInTag), ([, revision = '']) => BigInt(revision));
}
