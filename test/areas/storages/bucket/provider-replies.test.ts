import test from 'ava';
import { failureOfReply } from '../../../../src/areas/storages/bucket/probing/probe-failure.js';
import { ec, errorDocument, testReplies } from './reply-rows.js';

/* The replies that providers document or that people quote, each with its source and the code of the test. */

const oss = 'alibabacloud.com/help/en/oss';
const oss403 = `${oss}/user-guide/http-403-error-code`;
const oss403s = `${oss}/support/http-status-code-403`;
const amazon = 'docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html';
const r2 = 'developers.cloudflare.com/r2/api/error-codes';

const from = {
  permission: `${oss}/support/0003-00000001`,
  domains: `${oss}/user-guide/map-custom-domain-names-5; the words: github.com/bramburn/qalos, docs`,
  upload: `github.com/CQHui/oss_upload/issues/2, ${oss403s}`,
  sdk29: 'github.com/aliyun/alibabacloud-oss-go-sdk-v2/issues/29',
  sdkMocks: 'aliyun/alibabacloud-oss-go-sdk-v2, the mock tests of its client (UserDisable)',
  ramUser: 'aliyun: AccessDenied of a RAM user without a policy for the bucket, as users quote it',
  ossMoved: `${oss403} (PermanentRedirect)`,
  ossKms: 'help.aliyun.com/en/oss/user-guide/0005-00000218',
  ossKey: 'help.aliyun.com/en/oss/user-guide/0002-00000904',
  moved: `${amazon} (PermanentRedirect)`,
  evaporate: 'github.com/TTLabs/EvaporateJS/issues/364',
  arrears: 'support.huaweicloud.com/intl/es-us/api-obs/obs_errorcode_0007.html (frozen after arrears)',
  huaweiHost: 'support.huaweicloud.com/intl/en-us/api-obs/obs_04_0115.html',
  kms: 'repost.aws/knowledge-center/s3-troubleshoot-403 (kms)',
  lock: 'docs.aws.amazon.com: S3, "Object Lock considerations"',
  presigned: 'docs.aws.amazon.com: S3, "Sharing objects with presigned URLs"',
  minio: 'minio: cmd/api-errors.go, ErrObjectLocked',
  tos: 'github.com/apache/opendal/issues/6549 (Volcengine TOS)',
  nginxLarge: 'nginx: error page of client_max_body_size',
  nginx497: 'nginx: error page of status 497',
  go: 'Go: net/http, server.go',
};

const [write, read, remove] = [{ step: 'write' }, { step: 'read' }, { step: 'delete' }] as const;
const elsewhere =
  'The bucket you are attempting to access must be addressed using the specified endpoint. Please send all future requests to this endpoint.';
const redirected = `PermanentRedirect: ${elsewhere}`;
const at = (endpoint: string, hint: string) => ({ more: `<Endpoint>${endpoint}</Endpoint>`, hint });
const west = { headers: { 'x-amz-bucket-region': 'us-west-2' } };
const noRight = 'AccessDenied: You have no right to access this object because of bucket acl.';
const isDenied = { more: ec('0003-00000001') };

testReplies({
  write_denied: [
    [403, from.permission, noRight, { ...write, ...isDenied }],
    // OSS says so to a key without rights too, so it does not prove another owner.
    [403, from.ramUser, 'AccessDenied: The bucket you access does not belong to you.', write],
  ],
  read_denied: [[403, from.permission, noRight, { ...read, ...isDenied }]],
  delete_denied: [[403, from.permission, noRight, { ...remove, ...isDenied }]],
  public_endpoint_forbidden: [
    [
      400,
      from.domains,
      'PublicEndpointForbidden: Not allowed using the OSS public endpoint, please use CNAME instead.',
      { more: ec('0048-00000401') },
    ],
  ],
  region_wrong: [
    [403, from.upload, `AccessDenied: ${elsewhere}`, at('oss-cn-beijing.aliyuncs.com', 'cn-beijing')],
    [
      400,
      from.sdk29,
      'InvalidArgument: Invalid signing region in Authorization header.',
      { more: ec('0002-00000226') },
    ],
    [
      400,
      from.evaporate,
      "AuthorizationHeaderMalformed: the region 'us-east-1' is wrong; expecting 'eu-central-1'",
      { hint: 'eu-central-1' },
    ],
  ],
  bucket_in_other_place: [
    [301, from.ossMoved, redirected, at('media.oss-cn-shanghai-internal.aliyuncs.com', 'cn-shanghai')],
    [301, from.moved, redirected, { ...at('media.s3.us-west-2.amazonaws.com', 'us-west-2'), ...west }],
    [
      301,
      `${from.moved}, without the header`,
      redirected,
      at('media.s3-us-west-2.amazonaws.com', 'us-west-2'),
    ],
  ],
  account_in_arrears: [
    [403, oss403, 'InDebt: Current user is indebted.'],
    [403, oss403, 'InDebtOverdue: Current user is indebted.'],
    [403, from.sdkMocks, 'UserDisable: UserDisable', { more: ec('0003-00000801') }],
    [403, from.arrears, 'InArrearOrInsufficientBalance: In arrear or insufficient balance.'],
  ],
  bucket_disabled: [
    [403, oss403, 'BucketDisable: BucketDisable'],
    [403, oss403, 'AbnormalBucketOwnerStatus: The status of the bucket owner is abnormal'],
    [403, amazon, 'AllAccessDisabled: All access to this Amazon S3 resource has been disabled.'],
  ],
  bucket_not_owned: [[403, oss403, 'BucketNotBelongTo: The bucket you access does not belong to you']],
  endpoint_refused: [
    [
      403,
      oss403,
      'NonStandardHostForbidden: Your host is invalid. Please use Open Storage Service standard host',
    ],
    [403, oss403, 'CnameDenied: The cname belongs to another user'],
  ],
  encryption_denied: [
    [
      403,
      `${oss403} (UbsmsInvalidBid)`,
      'UbsmsInvalidBid: Your account partner does not have KMS Service',
      write,
    ],
    [403, from.ossKms, 'AccessDenied: KMS is not activated.', { ...write, more: ec('0005-00000218') }],
    [403, oss403s, 'AccessDenied: This request is forbidden by kms', write],
    [
      400,
      `${amazon} (KMS.DisabledException)`,
      'KMS.DisabledException: The request was rejected because the specified KMS key is not enabled.',
      write,
    ],
    [
      403,
      from.kms,
      'AccessDenied: User is not authorized to perform: kms:GenerateDataKey on the resource',
      write,
    ],
  ],
  object_locked: [
    [
      400,
      from.lock,
      'InvalidRequest: Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters',
      write,
    ],
    [400, from.minio, 'InvalidRequest: Object is WORM protected and cannot be overwritten', remove],
  ],
  temporary_keys: [
    [400, amazon, 'InvalidToken: The provided token is malformed or not valid.'],
    [400, amazon, 'ExpiredToken: The provided token is malformed or not valid.'],
    [403, oss403, 'InvalidSecurityToken: The security token you provided is invalid.'],
    [403, oss403, 'AccessKeyIdAndSecurityTokenNotMatch: The security token you provided is invalid.'],
  ],
  access_key_disabled: [
    [
      403,
      from.ossKey,
      'InvalidAccessKeyId: The OSS Access Key Id is disabled.',
      { more: ec('0002-00000904') },
    ],
  ],
  access_key_unknown: [
    [401, r2, 'Unauthorized: Unauthorized'],
    [400, `${r2} (InvalidArgument)`, 'InvalidArgument: Credential access key has length 20, should be 32'],
  ],
  path_style_refused: [
    [403, from.tos, 'InvalidPathAccess: path style access is not allowed'],
    [403, from.huaweiHost, 'VirtualHostDomainRequired: Virtual host domain is required.'],
  ],
  clock_skewed: [
    [
      403,
      from.presigned,
      'AccessDenied: Request has expired',
      { ...read, more: '<ServerTime>2026-11-23T00:00:00Z</ServerTime>' },
    ],
  ],
  upload_limited: [
    [413, from.nginxLarge, '<html><head><title>413 Request Entity Too Large</title></head></html>', write],
  ],
  https_expected: [
    [400, from.nginx497, '<html><body>The plain HTTP request was sent to HTTPS port</body></html>'],
    [400, from.go, 'Client sent an HTTP request to an HTTPS server.\n'],
  ],
});

test('The test of a key without the right to list goes on', async (t) => {
  // alibabacloud.com/help/en/oss/support/0003-00000001; the probe passes a `request_refused` list
  for (const body of [
    errorDocument('AccessDenied', 'denied', ec('0003-00000001')),
    errorDocument('AccessDenied', 'The bucket you access does not belong to you.'),
    errorDocument('AccessDenied', 'denied'),
  ]) {
    const failure = await failureOfReply('list', { status: 403, headers: {}, body: Buffer.from(body) });
    t.is(failure.code, 'request_refused');
  }
});

test('A header that is no region is no hint', async (t) => {
  const headers = { 'x-amz-bucket-region': '<canary>' };
  const body = Buffer.from(errorDocument('PermanentRedirect', 'elsewhere'));
  t.deepEqual(await failureOfReply('list', { status: 301, headers, body }), {
    code: 'bucket_in_other_place',
    hint: null,
  });
});

test('A code that every object has a member for is a code that no rule knows', async (t) => {
  for (const code of ['constructor', 'toString', '__proto__']) {
    for (const body of [errorDocument(code, ''), errorDocument('AccessDenied', '', ec(code))]) {
      const failure = await failureOfReply('write', { status: 403, headers: {}, body: Buffer.from(body) });
      t.deepEqual(failure, { code: 'write_denied', hint: null }, body);
    }
  }
});
