import type { ProbeFailureCode } from '../../domain/delivery/test-failure.js';
import { readDocument, textOf } from '../objects/xml.js';

/*
 * The error codes of the providers (src/areas/storages/README.md#storage-tests):
 * - Amazon S3, "Error responses": docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 * - Alibaba OSS, "HTTP 403 errors": alibabacloud.com/help/en/oss/user-guide/http-403-error-code, and the pages of EC
 * - Tencent COS, "Error codes": cloud.tencent.com/document/product/436/7730; Tencent/flare, flare/net/cos/cos_status.cc
 * - MinIO: cmd/api-errors.go; Cloudflare R2: "Error codes"; Huawei OBS, Volcengine TOS: "Error codes"
 */

/** Error codes (`<Code>`) of all providers in one table, because their names hardly clash. */
const byCode: Readonly<Record<string, ProbeFailureCode>> = {
  InvalidAccessKeyId: 'access_key_unknown',
  InvalidAccessKeyID: 'access_key_unknown',
  InvalidSecurity: 'access_key_unknown',
  // R2 answers 401 to a key that it does not know.
  Unauthorized: 'access_key_unknown',
  InactiveAccessKeyId: 'access_key_disabled',
  AccessKeyDisabled: 'access_key_disabled',
  // The service sends no token, so only temporary keys can lead to an answer about one.
  InvalidToken: 'temporary_keys',
  ExpiredToken: 'temporary_keys',
  TokenRefreshRequired: 'temporary_keys',
  InvalidSecurityToken: 'temporary_keys',
  InvalidTokenId: 'temporary_keys',
  SecurityTokenExpired: 'temporary_keys',
  AccessKeyIdAndSecurityTokenNotMatch: 'temporary_keys',
  SignatureDoesNotMatch: 'signature_mismatch',
  NotImplemented: 'signature_version_refused',
  RequestTimeTooSkewed: 'clock_skewed',
  RequestIsExpired: 'clock_skewed',
  RequestExpired: 'clock_skewed',
  // COS writes this one with spaces.
  'Request has expired': 'clock_skewed',
  RequestNotYetValid: 'clock_skewed',
  AuthorizationHeaderMalformed: 'region_wrong',
  AuthorizationQueryParametersError: 'region_wrong',
  InvalidRegion: 'region_wrong',
  InvalidRegionName: 'region_wrong',
  InvalidLocationConstraint: 'region_wrong',
  IllegalLocationConstraintException: 'region_wrong',
  PermanentRedirect: 'bucket_in_other_place',
  TemporaryRedirect: 'bucket_in_other_place',
  Redirect: 'bucket_in_other_place',
  NoSuchBucket: 'bucket_not_found',
  InvalidBucketName: 'bucket_not_found',
  BucketNotBelongTo: 'bucket_not_owned',
  BucketDisable: 'bucket_disabled',
  AllAccessDisabled: 'bucket_disabled',
  AbnormalBucketOwnerStatus: 'bucket_disabled',
  // COS, status 451, without the words of arrears below: the content was blocked.
  UnavailableForLegalReasons: 'bucket_disabled',
  PublicEndpointForbidden: 'public_endpoint_forbidden',
  NonStandardHostForbidden: 'endpoint_refused',
  CnameDenied: 'endpoint_refused',
  UserCnameInvalid: 'endpoint_refused',
  DomainAuditFailed: 'endpoint_refused',
  PathStyleDomainForbidden: 'path_style_refused',
  SecondLevelDomainForbidden: 'path_style_refused',
  InvalidPathAccess: 'path_style_refused',
  VirtualHostDomainRequired: 'path_style_refused',
  UserDisable: 'account_in_arrears',
  InDebt: 'account_in_arrears',
  InDebtOverdue: 'account_in_arrears',
  AccountProblem: 'account_in_arrears',
  NotSignedUp: 'account_in_arrears',
  ArrearsForbidden: 'account_in_arrears',
  UnauthorizedOperationArrears: 'account_in_arrears',
  InArrearOrInsufficientBalance: 'account_in_arrears',
  PaymentRequired: 'account_in_arrears',
  AccountIsolated: 'account_in_arrears',
  UbsmsInvalidBid: 'encryption_denied',
  KmsKeyDisabled: 'encryption_denied',
  KmsKeyNotExist: 'encryption_denied',
  KmsException: 'encryption_denied',
  FileImmutable: 'object_locked',
  ObjectLocked: 'object_locked',
  BucketLocked: 'object_locked',
  QuotaExceeded: 'quota_exceeded',
  ServiceQuotaExceeded: 'quota_exceeded',
  EntityTooLarge: 'quota_exceeded',
  XMinioStorageFull: 'quota_exceeded',
  SlowDown: 'throttled',
  RequestLimitExceeded: 'throttled',
  TooManyRequests: 'throttled',
  KmsFreqControl: 'throttled',
  DownloadTrafficRateLimitExceeded: 'throttled',
  InternalError: 'storage_unavailable',
  ServiceUnavailable: 'storage_unavailable',
  OperationAborted: 'storage_unavailable',
  XMinioServerNotInitialized: 'storage_unavailable',
};

/** The finer codes of OSS (`<EC>`), for cases where `<Code>` is too coarse. */
const byFineCode: Readonly<Record<string, ProbeFailureCode>> = {
  // OSS reports here that it "no longer supports V1", and that it does not accept the signature's version.
  '0002-00000080': 'signature_version_refused',
  // A signature for another region than the bucket's (aliyun/alibabacloud-oss-go-sdk-v2, issue 29).
  '0002-00000226': 'region_wrong',
  '0002-00000904': 'access_key_disabled',
  '0005-00000218': 'encryption_denied',
  // OSS refuses data calls of new users on the default domains of mainland buckets.
  '0048-00000401': 'public_endpoint_forbidden',
};

/** Codes with several causes, which only the rest of the reply tells apart. */
const byWords: readonly (readonly [code: RegExp, words: RegExp, cause: ProbeFailureCode])[] = [
  // OSS refuses a request of another region as AccessDenied, and names the right endpoint.
  [/^AccessDenied$/, /addressed using the specified endpoint/, 'region_wrong'],
  [/^AccessDenied$/, /Request has expired|not yet valid/i, 'clock_skewed'],
  // COS, status 451: "Due to your account is arrears, it is unavailable until you recharge."
  [/^UnavailableForLegalReasons$/, /arrears/i, 'account_in_arrears'],
  [/^AccessDenied$/, /\bkms\b/i, 'encryption_denied'],
  [/^KMS\./, /(?:)/, 'encryption_denied'],
  [/^(?:AccessDenied|InvalidRequest)$/, /object lock|WORM protected/i, 'object_locked'],
  // R2 checks the length of the access key first.
  [/^InvalidArgument$/, /access key has length/i, 'access_key_unknown'],
];

/** The error document of a storage. */
export interface StorageError {
  /** Null where the document has none, or one that is longer or stranger than codes are. */
  readonly code: string | null;
  /** The cause that the document names; undefined if no rule knows it. */
  readonly cause: ProbeFailureCode | undefined;
  /** The id of the region that it names, without other text of the storage. */
  readonly region: string | null;
}

/** Reads the error document of a storage. Returns null for another reply, such as that of a proxy. */
export async function readStorageError(body: Buffer): Promise<StorageError | null> {
  const error = await readDocument(body, 'Error');
  if (error === null) return null;
  const text = (name: string): string => textOf(error, name)?.trim() ?? '';
  const [code, words] = [text('Code'), text('Message').slice(0, wordsMax)];
  const isExpired = code === 'AccessDenied' && text('ServerTime') !== '';
  const worded = byWords.find(([codes, meaning]) => codes.test(code) && meaning.test(words))?.[2];
  const cause =
    listedIn(byFineCode, text('EC')) ?? worded ?? (isExpired ? 'clock_skewed' : listedIn(byCode, code));
  return { code: /^[A-Za-z0-9. ]{1,64}$/.test(code) ? code : null, cause, region: regionIn(text, words) };
}

/** A reply may write any text, also one that every object has a member for. */
function listedIn(table: typeof byCode, code: string): ProbeFailureCode | undefined {
  return Object.hasOwn(table, code) ? table[code] : undefined;
}

/** Characters of a message that rules look at. */
const wordsMax = 2_000;

/** Returns the region that the document names: Amazon's element or words, or the right endpoint of OSS or Amazon. */
function regionIn(text: (name: string) => string, words: string): string | null {
  const endpoint = text('Endpoint').slice(0, 255);
  const found = [
    /^([A-Za-z0-9-]{1,64})$/.exec(text('Region')),
    /expecting '([A-Za-z0-9-]{1,64})'/.exec(words),
    /^(?:[a-z0-9.-]+\.)?oss-([a-z0-9-]{1,64}?)(?:-internal)?\.aliyuncs\.com$/.exec(endpoint),
    /^(?:[a-z0-9.-]+\.)?s3[.-]([a-z0-9-]{1,64})\.amazonaws\.com(?:\.cn)?$/.exec(endpoint),
  ];
  return found.find((match) => match !== null)?.[1] ?? null;
}
