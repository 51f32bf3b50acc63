import type { OutgoingFailure } from '../outgoing/outgoing-http.js';

/** The cause that makes a bucket unusable, divided by the remedy that its owner has. */
export type ProbeFailureCode =
  | 'address_refused'
  | 'host_not_found'
  | 'host_not_resolved'
  | 'connection_refused'
  | 'connection_failed'
  | 'connection_timeout'
  | 'tls_failed'
  | 'certificate_name_wrong'
  | 'certificate_expired'
  | 'certificate_untrusted'
  | 'certificate_invalid'
  | 'redirected'
  | 'not_a_storage'
  | 'clock_skewed'
  | 'access_key_unknown'
  | 'access_key_disabled'
  | 'signature_mismatch'
  | 'signature_version_refused'
  | 'region_wrong'
  | 'bucket_not_found'
  | 'bucket_in_other_place'
  | 'path_style_refused'
  | 'write_denied'
  | 'read_denied'
  | 'delete_denied'
  | 'range_ignored'
  | 'content_changed'
  | 'domain_refused'
  | 'account_in_arrears'
  | 'quota_exceeded'
  | 'throttled'
  | 'storage_unavailable'
  | 'cdn_host_not_found'
  | 'cdn_unreachable'
  | 'cdn_tls_failed'
  | 'cdn_certificate_name_wrong'
  | 'cdn_certificate_expired'
  | 'cdn_certificate_untrusted'
  | 'cdn_certificate_invalid'
  | 'cdn_signature_refused'
  | 'cdn_not_public'
  | 'cdn_not_found'
  | 'cdn_address_refused'
  | 'cdn_redirected'
  | 'cdn_failed'
  | 'cdn_range_ignored'
  | 'cdn_content_changed'
  | 'request_refused';

export interface ProbeFailure {
  readonly code: ProbeFailureCode;
  /** The id of the bucket's region if the storage names it. It contains no other text of the storage. */
  readonly hint: string | null;
}

export type ProbeStep = 'list' | 'write' | 'read' | 'delete';

/** Error codes (`<Code>`) of S3, OSS and COS in one table, because their names hardly clash. */
const byCode: Readonly<Record<string, ProbeFailureCode>> = {
  InvalidAccessKeyId: 'access_key_unknown',
  InvalidAccessKeyID: 'access_key_unknown',
  InvalidSecurity: 'access_key_unknown',
  InvalidToken: 'access_key_disabled',
  ExpiredToken: 'access_key_disabled',
  TokenRefreshRequired: 'access_key_disabled',
  InvalidSecurityToken: 'access_key_disabled',
  SecurityTokenExpired: 'access_key_disabled',
  InactiveAccessKeyId: 'access_key_disabled',
  AccessKeyDisabled: 'access_key_disabled',
  SignatureDoesNotMatch: 'signature_mismatch',
  RequestTimeTooSkewed: 'clock_skewed',
  RequestIsExpired: 'clock_skewed',
  RequestExpired: 'clock_skewed',
  RequestNotYetValid: 'clock_skewed',
  AuthorizationHeaderMalformed: 'region_wrong',
  AuthorizationQueryParametersError: 'region_wrong',
  InvalidRegion: 'region_wrong',
  IllegalLocationConstraintException: 'region_wrong',
  PermanentRedirect: 'bucket_in_other_place',
  TemporaryRedirect: 'bucket_in_other_place',
  Redirect: 'bucket_in_other_place',
  NoSuchBucket: 'bucket_not_found',
  InvalidBucketName: 'bucket_not_found',
  PathStyleDomainForbidden: 'path_style_refused',
  SecondLevelDomainForbidden: 'path_style_refused',
  UserDisable: 'account_in_arrears',
  AccountProblem: 'account_in_arrears',
  NotSignedUp: 'account_in_arrears',
  ArrearsForbidden: 'account_in_arrears',
  UnauthorizedOperationArrears: 'account_in_arrears',
  QuotaExceeded: 'quota_exceeded',
  ServiceQuotaExceeded: 'quota_exceeded',
  EntityTooLarge: 'quota_exceeded',
  XMinioStorageFull: 'quota_exceeded',
  SlowDown: 'throttled',
  RequestLimitExceeded: 'throttled',
  TooManyRequests: 'throttled',
  DownloadTrafficRateLimitExceeded: 'throttled',
  InternalError: 'storage_unavailable',
  ServiceUnavailable: 'storage_unavailable',
  OperationAborted: 'storage_unavailable',
  XMinioServerNotInitialized: 'storage_unavailable',
  NotImplemented: 'signature_version_refused',
};

/** The finer codes of OSS (`<EC>`), for cases where `<Code>` is too coarse. */
const byFineCode: Readonly<Record<string, ProbeFailureCode>> = {
  // OSS reports here that it "no longer supports V1", and that it does not accept the signature's version.
  '0002-00000080': 'signature_version_refused',
  // OSS refuses data calls of new users on the default domains of mainland buckets.
  '0048-00000001': 'domain_refused',
  '0003-00000001': 'domain_refused',
};

const denied: Readonly<Record<ProbeStep, ProbeFailureCode>> = {
  list: 'request_refused',
  write: 'write_denied',
  read: 'read_denied',
  delete: 'delete_denied',
};

/** Translates a storage's reply without success. Of the body (at most 64 KiB) it keeps only the region's id. */
export function failureOfReply(step: ProbeStep, status: number, body: string): ProbeFailure {
  const code = /<Code>([A-Za-z0-9.]{1,64})<\/Code>/.exec(body)?.[1];
  const fine = /<EC>([0-9-]{1,32})<\/EC>/.exec(body)?.[1];
  const known = byFineCode[fine ?? ''] ?? byCode[code ?? ''];
  if (known !== undefined) return { code: known, hint: known === 'region_wrong' ? regionIn(body) : null };
  return { code: byStatus(step, status, code !== undefined), hint: null };
}

/** @param saysWhy whether the body is a storage's and contains a code that the tables above do not list */
function byStatus(step: ProbeStep, status: number, saysWhy: boolean): ProbeFailureCode {
  if (status >= 300 && status < 400) return saysWhy ? 'bucket_in_other_place' : 'redirected';
  if (status === 429) return 'throttled';
  if (status >= 500) return 'storage_unavailable';
  if (!saysWhy) return 'not_a_storage';
  return status === 403 ? denied[step] : 'request_refused';
}

/** Returns the region that Amazon and compatible services name if the signature was made for another region. */
function regionIn(body: string): string | null {
  const named = /<Region>([A-Za-z0-9-]{1,64})<\/Region>/.exec(body)?.[1];
  return named ?? /expecting '([A-Za-z0-9-]{1,64})'/.exec(body)?.[1] ?? null;
}

/** Translates a reply through `cdn_domain` that is neither the object nor a part of it. */
export function failureOfCdnReply(
  status: number,
  { isSigned }: { readonly isSigned: boolean },
): ProbeFailure {
  if (status >= 300 && status < 400) return { code: 'cdn_redirected', hint: null };
  if (status === 404) return { code: 'cdn_not_found', hint: null };
  if (status === 429 || status >= 500) return { code: 'cdn_failed', hint: null };
  return { code: isSigned ? 'cdn_signature_refused' : 'cdn_not_public', hint: null };
}

export function failureOfConnection(failure: OutgoingFailure): ProbeFailure {
  return { code: failure === 'not_http' ? 'not_a_storage' : failure, hint: null };
}

export function failureOfCdnConnection(failure: OutgoingFailure): ProbeFailure {
  switch (failure) {
    case 'address_refused':
      return { code: 'cdn_address_refused', hint: null };
    case 'host_not_found':
      return { code: 'cdn_host_not_found', hint: null };
    case 'certificate_name_wrong':
    case 'certificate_expired':
    case 'certificate_untrusted':
    case 'certificate_invalid':
    case 'tls_failed':
      return { code: `cdn_${failure}`, hint: null };
    case 'host_not_resolved':
    case 'connection_refused':
    case 'connection_failed':
    case 'connection_timeout':
    case 'not_http':
      return { code: 'cdn_unreachable', hint: null };
  }
}
