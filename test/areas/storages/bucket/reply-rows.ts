import test from 'ava';
import {
  describeFailure,
  type ProbeFailureCode,
} from '../../../../src/areas/storages/domain/delivery/test-failure.js';
import {
  failureOfReply,
  type ProbeStep,
} from '../../../../src/areas/storages/bucket/probing/probe-failure.js';

interface Details {
  /** `list` by default. */
  readonly step?: ProbeStep;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further elements of the error document. */
  readonly more?: string;
  readonly hint?: string;
}

/**
 * A reply that a provider documents or that people quote. `says` is `<code>: <message>` of an error document, or a whole
 * body that begins otherwise.
 */
export type Reply = readonly [status: number, source: string, says: string, details?: Details];

/** The replies by what the test of a storage makes of them. */
export type Replies = { readonly [Code in ProbeFailureCode]?: readonly Reply[] };

/** Writes an error document. Its request id must not appear in a failure. */
export const errorDocument = (code: string, message: string, more = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message>${more}<RequestId>canary</RequestId></Error>`;
/** The finer code of OSS. */
export const ec = (code: string): string => `<EC>${code}</EC>`;

/** What the advice of each failure says, before its hint. */
const advice: Partial<Record<ProbeFailureCode, RegExp>> = {
  access_key_disabled: /disabled/,
  access_key_unknown: /Check both keys/,
  account_in_arrears: /Settle the bills.*or enable the user/,
  bucket_disabled: /disabled the bucket.*the account that owns it/,
  bucket_in_other_place: /another endpoint/,
  bucket_not_found: /Check its name/,
  bucket_not_owned: /another account/,
  clock_skewed: /clock/,
  delete_denied: /^The key may not .* Allow DeleteObject there\.$/,
  encryption_denied: /\(KMS\)/,
  endpoint_refused: /Bind the domain to this bucket/,
  https_expected: /https:\/\//,
  object_locked: /object lock/,
  path_style_refused: /https:\/\/<bucket>\.<host>/,
  public_endpoint_forbidden: /Bind your own domain to the bucket in OSS, and enter it as endpoint\.$/,
  read_denied: /^The key may not .* Allow GetObject there\.$/,
  region_wrong: /in another region\.$/,
  signature_mismatch: /Enter both keys again/,
  storage_unavailable: /Try again later/,
  temporary_keys: /Enter lasting keys/,
  throttled: /Try again later/,
  upload_limited: /Raise its limit/,
  write_denied: /^The key may not .* Allow PutObject there\.$/,
};

/** Defines a test for each reply. */
export function testReplies(replies: Replies): void {
  for (const [code, rows] of Object.entries(replies) as [ProbeFailureCode, readonly Reply[]][]) {
    for (const [status, source, says, { step = 'list', headers = {}, more = '', hint = null } = {}] of rows) {
      const [, name, message = ''] = /^([\w. ]+): (.*)$/.exec(says) ?? [];
      const what = `${status} ${name ?? 'with another body'}`;
      test(`The reply ${what} to the step ${step} is ${code} (${source})`, async (t) => {
        const body = Buffer.from(name === undefined ? says : errorDocument(name, message, more));
        const failure = await failureOfReply(step, { status, headers, body });
        t.deepEqual(failure, { code, hint });
        const text = describeFailure(failure);
        const [begin, end] = [`${code}: `, hint === null ? '' : ` (${hint})`];
        t.true(text.startsWith(begin) && text.endsWith(end), text);
        t.regex(text.slice(begin.length, text.length - end.length), advice[code] ?? /^$/);
        t.notRegex(text, /canary/);
      });
    }
  }
}
