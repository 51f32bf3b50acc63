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
  const opaque = withoutWeakness(tag);
  return field.split(',').some((one) => withoutWeakness(one.trim()) === opaque);
}

function withoutWeakness(tag: string): string {
  return tag.replace(/^W\//, '');
}

/** Stands for a tag of another service, which the comparison then refuses after the checks of the body. */
const neverRevision = -1n;

/** The values of `If-Match` that the service takes: one entity tag (RFC 9110, 8.8.3), or `*`. */
export const ifMatchPattern = /^(?:\*|(W\/)?"([\x21\x23-\x7e\x80-\xff]*)")$/;

/** Returns the revision that `If-Match` demands (RFC 9110, 13.1.1); undefined for none. @throws InvalidInput */
export function revisionWanted(field: string | undefined): bigint | undefined {
  if (field === undefined || field === '*') return undefined;
  const tag = ifMatchPattern.exec(field);
  if (tag === null) return invalid('header.If-Match', 'must be one entity tag or *');
  const [, weak, opaque = ''] = tag;
  const revision = /^(\d{1,19})-[\w-]{22}$/.exec(opaque)?.[1];
  return weak !== undefined || revision === undefined ? neverRevision : BigInt(revision);
}
