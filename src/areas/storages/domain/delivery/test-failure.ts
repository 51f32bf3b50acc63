import { z } from 'zod';
import { type PrintedCorsRule, corsExposedHeaders, corsMethods, printCorsRule } from './cors-rule.js';
import type { StorageProvider } from '../bucket/bucket.js';

/** What a passed test found, or could not check: src/areas/storages/README.md#browsers. */
export const testWarningCode = z.enum([
  'cors_missing',
  'cdn_cors_missing',
  'cors_unchecked',
  'public_endpoint_unchecked',
  'head_refused',
  'no_multipart',
  'content_disposition_ignored',
]);
type TestWarningCode = z.infer<typeof testWarningCode>;

export const testWarning = z.strictObject({
  code: testWarningCode,
  /** The origins of pages that it concerns; empty for a warning about no page. */
  origins: z.array(z.string()),
  /** The code of the failed connection, for something that was not checked. */
  cause: z
    .string()
    .regex(/^[a-z_]{1,64}$/)
    .nullable(),
});
export type TestWarning = z.infer<typeof testWarning>;

interface DescribedWarning {
  readonly code: TestWarningCode;
  readonly message: string;
  /** The CORS configuration to set at the provider; null for a warning about something else. */
  readonly rule: PrintedCorsRule | null;
}

/** By the pages that it concerns, and why something was not checked. */
const messages: Readonly<Record<TestWarningCode, (pages: string, why: string) => string>> = {
  cors_missing: (pages) =>
    `The bucket does not let pages of ${pages} upload files and fetch media. Set the CORS rule: origins ${pages}; ` +
    `methods ${corsMethods.join(', ')}; all headers; exposed headers ${corsExposedHeaders.join(', ')}. ` +
    'POST …/cors sets it where the key has the permission.',
  cdn_cors_missing: (pages) =>
    `cdn_domain does not let pages of ${pages} fetch media. Let the CDN pass OPTIONS and the header Origin on to the ` +
    'bucket, or let it answer with the rule itself.',
  cors_unchecked: (pages, why) =>
    `The preflights of pages of ${pages} got no answer${why}. Test again to check the CORS rules.`,
  public_endpoint_unchecked: (_, why) =>
    `This service cannot reach the public endpoint${why}. The test did not check uploads and media there. Check them in a ` +
    'browser that can reach it.',
  // What a bucket cannot do. Nothing is wrong with the storage.
  head_refused: () =>
    'The bucket, or a proxy before it, gives no usable answer to HEAD. The service reads the first byte of a file in its place.',
  no_multipart: () =>
    'The bucket has no uploads in parts that the service can use. Files are uploaded in one request, up to 5 GiB.',
  content_disposition_ignored: () =>
    'The bucket ignores response-content-disposition. Downloads open in the browser, and are saved under the last part of their key.',
};

/** Describes a warning for the owner of the storage, with the rule to set. It contains no text of the provider. */
export function describeWarning(
  { code, origins, cause }: TestWarning,
  provider: StorageProvider,
): DescribedWarning {
  const message = messages[code](origins.join(', '), cause === null ? '' : ` (${cause})`);
  const needsRule = code === 'cors_missing' || code === 'cdn_cors_missing';
  return { code, message, rule: needsRule ? printCorsRule(provider, origins) : null };
}

/** The result of a test of a storage. */
export interface TestResult {
  /** Null: the test has passed. */
  readonly failure: TestFailure | null;
  /** Empty after a failure. */
  readonly warnings: readonly TestWarning[];
}

const listAdvice = {
  list_denied:
    'The key may not list the bucket. Allow ListBucket (s3), oss:ListObjects (oss) or name/cos:GetBucket (cos).',
  list_unusable:
    'The storage lists the same page again, or objects outside the prefix. Check the endpoint and a proxy before it.',
  list_unreadable:
    'The storage answers with a list that is no whole list of S3 in XML and UTF-8. Check the endpoint and a proxy before it.',
} as const;

type ListRefusal = { readonly code: keyof typeof listAdvice; readonly hint: null } | TestFailure;

/** Returns the code, then the advice, for a bucket that does not list its objects. It contains no text of the provider. */
export function describeListRefusal(refusal: ListRefusal): string {
  return isOfList(refusal) ? `${refusal.code}: ${listAdvice[refusal.code]}` : describeFailure(refusal);
}

function isOfList(refusal: ListRefusal): refusal is Exclude<ListRefusal, TestFailure> {
  return Object.hasOwn(listAdvice, refusal.code);
}

/** A test without a result fails after this time in ms, by the store's recorded time: src/areas/storages/README.md#storage-tests. */
export const testLeaseMs = 60_000;

/** The time in ms after which a running test is cut off, so that its result is recorded within 20 s. */
export const testTimeMs = 18_000;

/** The causes of a failed test by their stable codes, and the advice for the storage's owner. */
const advice = {
  probe_timeout: 'The test did not finish. Try again.',
  test_broken:
    'This service could not run the test. Try again. If it happens again, report it to the operator.',
  address_refused: 'The endpoint leads to an address that this service may not speak to. Ask its operator.',
  host_not_found: 'The endpoint’s host does not exist. Check the endpoint, bucket and region.',
  host_not_resolved: 'The endpoint’s name could not be looked up. Try again later.',
  connection_refused: 'Nothing answers at the endpoint. Check its port, and whether the storage runs.',
  connection_failed: 'The connection to the endpoint broke off. Try again later.',
  connection_timeout: 'The endpoint did not answer in time. Check firewalls, then try again.',
  tls_failed: 'No secure connection to the endpoint could be made. Check its protocol and port.',
  certificate_name_wrong: 'The endpoint’s certificate is for other names. Check the endpoint.',
  certificate_expired: 'The endpoint’s certificate has expired, or is not valid yet. Renew it.',
  certificate_untrusted:
    'The endpoint’s certificate is signed by no authority that this service knows. Serve its whole chain, or get one of a public authority.',
  certificate_invalid: 'The endpoint’s certificate is not valid. Get another one.',
  redirected: 'The endpoint answers with a redirection. Enter the address that it leads to.',
  not_a_storage: 'What answers at the endpoint does not speak the provider’s protocol.',
  clock_skewed: 'The storage’s clock differs from this service’s by too much. One of them needs to be set.',
  access_key_unknown: 'The storage does not know the access key. Check both keys.',
  access_key_disabled: 'The access key has been disabled or has expired. Make a new one.',
  temporary_keys:
    'The keys are temporary and need a token, which a storage does not keep. Enter lasting keys.',
  signature_mismatch:
    'The secret key is wrong, or it does not belong to the access key. Enter both keys again.',
  signature_version_refused: 'The storage does not accept this way of signing. Check provider and endpoint.',
  region_wrong: 'The bucket is in another region.',
  bucket_not_found: 'There is no such bucket. Check its name and the region.',
  bucket_not_owned: 'The bucket belongs to another account. Check the bucket’s name and the keys.',
  bucket_disabled: 'The provider has disabled the bucket, or the account that owns it. Ask the provider.',
  bucket_in_other_place: 'The bucket has to be spoken to at another endpoint. Check endpoint and region.',
  path_style_refused:
    'The storage wants the bucket in the host’s name. Enter https://<bucket>.<host> as endpoint.',
  write_denied: 'The key may not write objects below the base path. Allow PutObject there.',
  read_denied: 'The key may not read objects below the base path. Allow GetObject there.',
  delete_denied: 'The key may not delete objects below the base path. Allow DeleteObject there.',
  range_ignored: 'The storage does not answer requests for a part of an object.',
  content_changed:
    'What was read is not what was written. Something between changes it, or shows new objects late.',
  encryption_denied:
    'The key may not use the encryption key (KMS) of the bucket, or that key is off. Allow its use, or change the encryption.',
  object_locked:
    'The object lock (WORM) of the bucket refuses the test. Use a bucket without a default retention.',
  public_endpoint_forbidden:
    'Alibaba does not serve this bucket on its default public host. Bind your own domain to the bucket in OSS, and enter it as endpoint.',
  public_endpoint_wrong:
    'public_endpoint refuses signed URLs that the bucket accepts at endpoint. A proxy there must pass path and Host on unchanged.',
  endpoint_refused:
    'The provider does not accept the host of the endpoint. Bind the domain to this bucket, or enter the provider’s own host.',
  https_expected:
    'The port of the endpoint expects https. Begin the endpoint with https://, or check the port.',
  upload_limited: 'A proxy before the storage refuses uploads of this size. Raise its limit.',
  account_in_arrears:
    'The provider has suspended the account or the user of the key. Settle the bills, or enable the user.',
  quota_exceeded: 'The storage is full, or its quota is used up.',
  throttled: 'The storage asks to slow down. Try again later.',
  storage_unavailable: 'The storage reports an internal error. Try again later.',
  cdn_host_not_found: 'The host in cdn_domain does not exist.',
  cdn_unreachable: 'Nothing answers at cdn_domain.',
  cdn_tls_failed: 'No secure connection to cdn_domain could be made. It has to answer https on port 443.',
  cdn_certificate_name_wrong:
    'The certificate at cdn_domain is for other names. Add the domain to the CDN’s certificate.',
  cdn_certificate_expired:
    'The certificate of cdn_domain has expired, or is not valid yet. Renew it at the CDN.',
  cdn_certificate_untrusted:
    'The certificate of cdn_domain is signed by no authority that this service knows. Serve its whole chain, or get one of a public authority.',
  cdn_certificate_invalid: 'The certificate of cdn_domain is not valid. Get another one.',
  cdn_signature_refused: 'The signature does not hold through cdn_domain. Check its delivery mode.',
  cdn_not_public:
    'cdn_domain refuses requests without a signature. Let the CDN read the bucket, or change the delivery mode.',
  cdn_not_found: 'cdn_domain does not lead to this bucket. Check the CDN’s origin.',
  cdn_address_refused: 'cdn_domain leads to an address that this service may not speak to. Ask its operator.',
  cdn_redirected: 'cdn_domain answers with a redirection. Enter the host that it leads to.',
  cdn_failed: 'The CDN at cdn_domain reports an internal error. Check its origin, then try again.',
  cdn_range_ignored: 'cdn_domain does not answer requests for a part of an object. Turn range requests on.',
  cdn_content_changed: 'What comes through cdn_domain is not what was written. Check where it leads to.',
  request_refused: 'The storage refused the test. Check the bucket’s policy.',
} as const;

type TestFailureCode = keyof typeof advice;
export const testFailureCodes = Object.keys(advice) as readonly TestFailureCode[];
export const testFailureCode = z.enum(testFailureCodes as [TestFailureCode, ...TestFailureCode[]]);

/** The id of a region that the storage named. The form excludes any other text. */
export const testFailureHint = z.string().regex(/^[A-Za-z0-9-]{1,64}$/);

export interface TestFailure {
  readonly code: TestFailureCode;
  /** The id of the bucket's region if the storage names it. It contains no other text of the storage. */
  readonly hint: string | null;
}

/** Returns `last_error`: the code, then the advice. It contains no text of the provider, except a region. */
export function describeFailure({ code, hint }: TestFailure): string {
  return `${code}: ${advice[code]}${hint === null ? '' : ` (${hint})`}`;
}

/** The cause that makes a bucket unusable, divided by the remedy that its owner has. */
export type ProbeFailureCode = Exclude<TestFailureCode, 'probe_timeout' | 'test_broken'>;

const corsAdvice = {
  cors_denied:
    'The key may not read or set the CORS rules. Allow GetBucketCORS and PutBucketCORS, or set the rule of the warning yourself.',
  cors_unsupported:
    'The storage has no CORS rules for a bucket. Its operator allows the origins for the whole server.',
  cors_refused:
    'The storage refused the CORS rules, for example because the bucket has as many as it may. Remove one, or set the rule yourself.',
  cors_unreadable:
    'The service cannot read the CORS rules of the bucket, and writes none, so that none is lost. Set the rule yourself.',
} as const;

export type CorsRefusalCode = keyof typeof corsAdvice | TestFailureCode;

/** Returns the code, then the advice, for rules that the service could not set. It contains no text of the provider. */
export function describeCorsRefusal(code: CorsRefusalCode): string {
  return isOfCors(code) ? `${code}: ${corsAdvice[code]}` : describeFailure({ code, hint: null });
}

function isOfCors(code: CorsRefusalCode): code is keyof typeof corsAdvice {
  return Object.hasOwn(corsAdvice, code);
}
