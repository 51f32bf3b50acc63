import { hash } from 'node:crypto';
import { OutgoingError, type OutgoingReply, forAccount } from '../../../../outgoing/outgoing-http.js';
import type { BucketCalls } from '../objects/call-bucket.js';
import type { StorageUrls } from '../signing/media-urls.js';
import type { CorsRefusalCode } from '../../domain/delivery/test-failure.js';
import { failureOfConnection, failureOfReply } from './probe-failure.js';
import { probePages } from './probe-pages.js';
import { readStorageError } from './provider-codes.js';
import { escapeMarkup } from '../../../../validation/text.js';
import { type XmlElement, readDocument } from '../objects/xml.js';

/*
 * The CORS configuration of a bucket, in the XML that S3, OSS and COS share (Amazon S3, "PutBucketCors"; Alibaba OSS,
 * "PutBucketCors"; Tencent COS, "PUT Bucket cors").
 */

type Field = readonly [name: string, value: string];

/** Returns the fields of a rule for the origins: name and text of each element. Only those of the origins may differ. */
type CorsRuleFor = (origins: readonly string[]) => readonly Field[];

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
  const namespace = root.namespace === '' ? '' : ` xmlns="${escapeMarkup(root.namespace)}"`;
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
  return written(name, children.length > 0 ? children.map(elementXml).join('') : escapeMarkup(text));
}

function fieldXml([name, value]: Field): string {
  return written(name, escapeMarkup(value));
}

function written(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}

type SetCorsResult =
  | {
      /** False: the bucket had all rules already. */
      readonly isChanged: boolean;
      /** The origins that the bucket refuses still. New rules may need a minute. */
      readonly refused: readonly string[];
    }
  | { readonly failure: CorsRefusalCode };

/**
 * Adds the rule for the origins to the CORS rules of a bucket: reads them, merges, writes them and sends the preflights of
 * pages. Two changes at once may lose one of them, because providers write the rules without a condition.
 * Where the signal aborts, the time is up.
 */
export type SetBucketCors = ReturnType<typeof makeSetBucketCors>;

/** The reply is cut off at 64 KiB, and a cut configuration is not readable. */
export function makeSetBucketCors({ http: client, now }: BucketCalls) {
  return async (
    input: { readonly urls: StorageUrls; readonly origins: readonly string[]; readonly ruleFor: CorsRuleFor },
    signal: AbortSignal,
  ): Promise<SetCorsResult> => {
    const { urls, origins, ruleFor } = input;
    const http = forAccount(client, urls.account);
    try {
      const got = await send('GET', undefined);
      const hasNone = await saysNone(got);
      if (!hasNone && got.status !== 200) return { failure: await failureOfCors(got) };
      const merged = await withCorsRule(hasNone ? null : got.body, origins, ruleFor);
      if (merged.is === 'unreadable') return { failure: 'cors_unreadable' };
      if (merged.is === 'changed') {
        const put = await send('PUT', Buffer.from(merged.xml));
        if (put.status < 200 || put.status >= 300) return { failure: await failureOfCors(put) };
      }
      return { isChanged: merged.is === 'changed', refused: await refusedOf() };
    } catch (error) {
      if (signal.aborted) return { failure: failureOfConnection('connection_timeout').code };
      if (error instanceof OutgoingError) return { failure: failureOfConnection(error.failure).code };
      throw error;
    }

    async function send(method: 'GET' | 'PUT', body: Buffer | undefined): Promise<OutgoingReply> {
      // S3 and COS refuse these rules without the digest; OSS checks it.
      const own =
        body === undefined
          ? {}
          : { 'content-md5': hash('md5', body, 'base64'), 'content-type': 'application/xml' };
      const request = { method, key: '', query: { cors: '' }, headers: own, signedAt: now() };
      const { url, headers } = urls.bucket.sign(request);
      return http({ method, url, headers, ...(body === undefined ? {} : { body }) }, signal);
    }

    async function refusedOf(): Promise<readonly string[]> {
      const life = { signedAt: now(), expiresInSeconds: 60 };
      const bucket = urls.bucket.presign({ method: 'GET', key: 'cors', ...life });
      const warnings = await probePages(http, origins, { bucket, cdn: null }, signal);
      return warnings.find(({ code }) => code === 'cors_missing')?.origins ?? [];
    }
  };
}

async function saysNone({ status, body }: OutgoingReply): Promise<boolean> {
  return status === 404 && (await readStorageError(body))?.code === 'NoSuchCORSConfiguration';
}

async function failureOfCors(reply: OutgoingReply): Promise<CorsRefusalCode> {
  // Servers without CORS rules say so with 501 or 405.
  if (reply.status === 501 || reply.status === 405) return 'cors_unsupported';
  const { code } = await failureOfReply('list', reply);
  if (code !== 'request_refused') return code;
  return reply.status === 403 ? 'cors_denied' : 'cors_refused';
}
