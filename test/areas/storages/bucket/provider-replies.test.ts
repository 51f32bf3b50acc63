import test from 'ava';
import { failureOfReply } from '../../../../src/areas/storages/bucket/probing/probe-failure.js';
import { ec, errorDocument, type ReplyRow, testReplies } from './reply-rows.js';

/*
 * The replies that providers document or that people quote, each with its source, and the code and advice of the test.
 */

const oss403 = 'alibabacloud.com/help/en/oss/user-guide/http-403-error-code';
const ossPermission = 'alibabacloud.com/help/en/oss/support/0003-00000001';
const amazon = 'docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html';
const elsewhere =
  'The bucket you are attempting to access must be addressed using the specified endpoint. Please send all future requests to this endpoint.';

const rows: readonly ReplyRow[] = [
  ...(['write', 'read', 'delete'] as const).map((step): ReplyRow => ({
    ...{ source: ossPermission, step, status: 403, code: `${step}_denied` },
    body: errorDocument(
      'AccessDenied',
      'You have no right to access this object because of bucket acl.',
      ec('0003-00000001'),
    ),
    advice: /^The key may not .* Allow (?:Put|Get|Delete)Object there\.$/,
  })),
  {
    source:
      'alibabacloud.com/help/en/oss/user-guide/map-custom-domain-names-5; the words: github.com/bramburn/qalos, docs',
    status: 400,
    body: errorDocument(
      'PublicEndpointForbidden',
      'Not allowed using the OSS public endpoint, please use CNAME instead.',
      ec('0048-00000401'),
    ),
    code: 'public_endpoint_forbidden',
    advice: /Bind your own domain to the bucket in OSS, and enter it as endpoint\.$/,
  },
  {
    source: 'github.com/CQHui/oss_upload/issues/2, alibabacloud.com/help/en/oss/support/http-status-code-403',
    status: 403,
    body: errorDocument('AccessDenied', elsewhere, '<Endpoint>oss-cn-beijing.aliyuncs.com</Endpoint>'),
    ...{ code: 'region_wrong', hint: 'cn-beijing', advice: /in another region\. \(cn-beijing\)$/ },
  },
  {
    source: `${oss403} (PermanentRedirect)`,
    status: 301,
    body: errorDocument(
      'PermanentRedirect',
      elsewhere,
      '<Endpoint>media.oss-cn-shanghai-internal.aliyuncs.com</Endpoint>',
    ),
    ...{ code: 'bucket_in_other_place', hint: 'cn-shanghai', advice: /\(cn-shanghai\)$/ },
  },
  {
    source: 'github.com/aliyun/alibabacloud-oss-go-sdk-v2/issues/29',
    status: 400,
    body: errorDocument(
      'InvalidArgument',
      'Invalid signing region in Authorization header.',
      ec('0002-00000226'),
    ),
    ...{ code: 'region_wrong', advice: /another region/ },
  },
  {
    source: `${amazon} (PermanentRedirect)`,
    status: 301,
    body: errorDocument(
      'PermanentRedirect',
      elsewhere,
      '<Endpoint>media.s3.us-west-2.amazonaws.com</Endpoint>',
    ),
    headers: { 'x-amz-bucket-region': 'us-west-2' },
    ...{ code: 'bucket_in_other_place', hint: 'us-west-2', advice: /\(us-west-2\)$/ },
  },
  {
    source: `${amazon} (PermanentRedirect), without the header`,
    status: 301,
    body: errorDocument(
      'PermanentRedirect',
      elsewhere,
      '<Endpoint>media.s3-us-west-2.amazonaws.com</Endpoint>',
    ),
    ...{ code: 'bucket_in_other_place', hint: 'us-west-2', advice: /\(us-west-2\)$/ },
  },
  {
    source: 'github.com/TTLabs/EvaporateJS/issues/364',
    status: 400,
    body: errorDocument(
      'AuthorizationHeaderMalformed',
      "the region 'us-east-1' is wrong; expecting 'eu-central-1'",
    ),
    ...{ code: 'region_wrong', hint: 'eu-central-1', advice: /\(eu-central-1\)$/ },
  },
  ...['InDebt', 'InDebtOverdue'].map((code): ReplyRow => ({
    ...{ source: oss403, status: 403, body: errorDocument(code, 'Current user is indebted.') },
    ...{ code: 'account_in_arrears', advice: /Settle the bills/ },
  })),
  {
    source: 'aliyun/alibabacloud-oss-go-sdk-v2, the mock tests of its client (UserDisable)',
    status: 403,
    body: errorDocument('UserDisable', 'UserDisable', ec('0003-00000801')),
    ...{ code: 'account_in_arrears', advice: /or enable the user/ },
  },
  {
    source: 'support.huaweicloud.com/intl/es-us/api-obs/obs_errorcode_0007.html (frozen after arrears)',
    status: 403,
    body: errorDocument('InArrearOrInsufficientBalance', 'In arrear or insufficient balance.'),
    ...{ code: 'account_in_arrears', advice: /Settle the bills/ },
  },
  {
    // OSS says so to a key without rights too, so it does not prove another owner.
    source: 'aliyun: AccessDenied of a RAM user without a policy for the bucket, as users quote it',
    ...{ step: 'write', status: 403, code: 'write_denied' },
    body: errorDocument('AccessDenied', 'The bucket you access does not belong to you.'),
    advice: /Allow PutObject there/,
  },
  {
    ...{ source: oss403, status: 403, body: errorDocument('BucketDisable', 'BucketDisable') },
    ...{ code: 'bucket_disabled', advice: /disabled the bucket/ },
  },
  {
    ...{ source: oss403, status: 403 },
    body: errorDocument('AbnormalBucketOwnerStatus', 'The status of the bucket owner is abnormal'),
    ...{ code: 'bucket_disabled', advice: /the account that owns it/ },
  },
  {
    ...{ source: amazon, status: 403 },
    body: errorDocument('AllAccessDisabled', 'All access to this Amazon S3 resource has been disabled.'),
    ...{ code: 'bucket_disabled', advice: /disabled the bucket/ },
  },
  {
    ...{ source: oss403, status: 403 },
    body: errorDocument('BucketNotBelongTo', 'The bucket you access does not belong to you'),
    ...{ code: 'bucket_not_owned', advice: /another account/ },
  },
  {
    ...{ source: oss403, status: 403 },
    body: errorDocument(
      'NonStandardHostForbidden',
      'Your host is invalid. Please use Open Storage Service standard host',
    ),
    ...{ code: 'endpoint_refused', advice: /Bind the domain to this bucket/ },
  },
  {
    ...{
      source: oss403,
      status: 403,
      body: errorDocument('CnameDenied', 'The cname belongs to another user'),
    },
    ...{ code: 'endpoint_refused', advice: /Bind the domain to this bucket/ },
  },
  {
    ...{ source: `${oss403} (UbsmsInvalidBid)`, step: 'write', status: 403 },
    body: errorDocument('UbsmsInvalidBid', 'Your account partner does not have KMS Service'),
    ...{ code: 'encryption_denied', advice: /\(KMS\)/ },
  },
  {
    ...{ source: 'help.aliyun.com/en/oss/user-guide/0005-00000218', step: 'write', status: 403 },
    body: errorDocument('AccessDenied', 'KMS is not activated.', ec('0005-00000218')),
    ...{ code: 'encryption_denied', advice: /\(KMS\)/ },
  },
  {
    ...{ source: 'alibabacloud.com/help/en/oss/support/http-status-code-403', step: 'write', status: 403 },
    body: errorDocument('AccessDenied', 'This request is forbidden by kms'),
    ...{ code: 'encryption_denied', advice: /\(KMS\)/ },
  },
  {
    ...{ source: `${amazon} (KMS.DisabledException)`, step: 'write', status: 400 },
    body: errorDocument(
      'KMS.DisabledException',
      'The request was rejected because the specified KMS key is not enabled.',
    ),
    ...{ code: 'encryption_denied', advice: /\(KMS\)/ },
  },
  {
    ...{ source: 'repost.aws/knowledge-center/s3-troubleshoot-403 (kms)', step: 'write', status: 403 },
    body: errorDocument(
      'AccessDenied',
      'User is not authorized to perform: kms:GenerateDataKey on the resource',
    ),
    ...{ code: 'encryption_denied', advice: /\(KMS\)/ },
  },
  {
    ...{ source: 'docs.aws.amazon.com: S3, "Object Lock considerations"', step: 'write', status: 400 },
    body: errorDocument(
      'InvalidRequest',
      'Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters',
    ),
    ...{ code: 'object_locked', advice: /object lock/ },
  },
  {
    ...{ source: 'minio: cmd/api-errors.go, ErrObjectLocked', step: 'delete', status: 400 },
    body: errorDocument('InvalidRequest', 'Object is WORM protected and cannot be overwritten'),
    ...{ code: 'object_locked', advice: /object lock/ },
  },
  ...['InvalidToken', 'ExpiredToken'].map((code): ReplyRow => ({
    ...{
      source: amazon,
      status: 400,
      body: errorDocument(code, 'The provided token is malformed or not valid.'),
    },
    ...{ code: 'temporary_keys', advice: /Enter lasting keys/ },
  })),
  ...['InvalidSecurityToken', 'AccessKeyIdAndSecurityTokenNotMatch'].map((code): ReplyRow => ({
    ...{
      source: oss403,
      status: 403,
      body: errorDocument(code, 'The security token you provided is invalid.'),
    },
    ...{ code: 'temporary_keys', advice: /Enter lasting keys/ },
  })),
  {
    ...{ source: 'help.aliyun.com/en/oss/user-guide/0002-00000904', status: 403 },
    body: errorDocument('InvalidAccessKeyId', 'The OSS Access Key Id is disabled.', ec('0002-00000904')),
    ...{ code: 'access_key_disabled', advice: /disabled/ },
  },
  {
    ...{ source: 'developers.cloudflare.com/r2/api/error-codes', status: 401 },
    body: errorDocument('Unauthorized', 'Unauthorized'),
    ...{ code: 'access_key_unknown', advice: /Check both keys/ },
  },
  {
    ...{ source: 'developers.cloudflare.com/r2/api/error-codes (InvalidArgument)', status: 400 },
    body: errorDocument('InvalidArgument', 'Credential access key has length 20, should be 32'),
    ...{ code: 'access_key_unknown', advice: /Check both keys/ },
  },
  {
    ...{ source: 'github.com/apache/opendal/issues/6549 (Volcengine TOS)', status: 403 },
    body: errorDocument('InvalidPathAccess', 'path style access is not allowed'),
    ...{ code: 'path_style_refused', advice: /https:\/\/<bucket>\.<host>/ },
  },
  {
    ...{ source: 'support.huaweicloud.com/intl/en-us/api-obs/obs_04_0115.html', status: 403 },
    body: errorDocument('VirtualHostDomainRequired', 'Virtual host domain is required.'),
    ...{ code: 'path_style_refused', advice: /https:\/\/<bucket>\.<host>/ },
  },
  {
    ...{
      source: 'docs.aws.amazon.com: S3, "Sharing objects with presigned URLs"',
      step: 'read',
      status: 403,
    },
    body: errorDocument(
      'AccessDenied',
      'Request has expired',
      '<ServerTime>2026-11-23T00:00:00Z</ServerTime>',
    ),
    ...{ code: 'clock_skewed', advice: /clock/ },
  },
  {
    ...{ source: 'nginx: error page of client_max_body_size', step: 'write', status: 413 },
    body: '<html><head><title>413 Request Entity Too Large</title></head></html>',
    ...{ code: 'upload_limited', advice: /Raise its limit/ },
  },
  {
    ...{ source: 'nginx: error page of status 497', status: 400 },
    body: '<html><body>The plain HTTP request was sent to HTTPS port</body></html>',
    ...{ code: 'https_expected', advice: /https:\/\// },
  },
  {
    ...{ source: 'Go: net/http, server.go', status: 400 },
    body: 'Client sent an HTTP request to an HTTPS server.\n',
    ...{ code: 'https_expected', advice: /https:\/\// },
  },
];

testReplies(rows);

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
