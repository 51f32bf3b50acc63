import test from 'ava';
import { describeFailure } from '../../../src/domain/storage/test-failure.js';
import type { ProbeFailureCode } from '../../../src/integrations/object-storage/probe-failure-code.js';
import { failureOfReply, type ProbeStep } from '../../../src/integrations/object-storage/probe-failure.js';

/*
 * The replies that providers document or that people quote, each with its source, and the code and advice of the test.
 */

interface Row {
  readonly source: string;
  readonly step?: ProbeStep;
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly code: ProbeFailureCode;
  readonly hint?: string;
  /** A part of the advice. */
  readonly advice: RegExp;
}

const error = (code: string, message: string, more = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message>${more}<RequestId>canary</RequestId></Error>`;
const ec = (code: string): string => `<EC>${code}</EC>`;

const oss403 = 'alibabacloud.com/help/en/oss/user-guide/http-403-error-code';
const ossPermission = 'alibabacloud.com/help/en/oss/support/0003-00000001';
const amazon = 'docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html';
const elsewhere =
  'The bucket you are attempting to access must be addressed using the specified endpoint. Please send all future requests to this endpoint.';

const rows: readonly Row[] = [
  ...(['write', 'read', 'delete'] as const).map((step): Row => ({
    ...{ source: ossPermission, step, status: 403, code: `${step}_denied` },
    body: error('AccessDenied', 'You have no right to access this object.', ec('0003-00000001')),
    advice: /^The key may not .* Allow (?:Put|Get|Delete)Object there\.$/,
  })),
  {
    source: 'alibabacloud.com/help/en/oss/user-guide/map-custom-domain-names-5',
    status: 400,
    body: error('PublicEndpointForbidden', 'Public endpoint is forbidden.', ec('0048-00000401')),
    code: 'public_endpoint_forbidden',
    advice: /Bind your own domain to the bucket in OSS, and enter it as endpoint\.$/,
  },
  {
    source: 'github.com/CQHui/oss_upload/issues/2, alibabacloud.com/help/en/oss/support/http-status-code-403',
    status: 403,
    body: error('AccessDenied', elsewhere, '<Endpoint>oss-cn-beijing.aliyuncs.com</Endpoint>'),
    ...{ code: 'region_wrong', hint: 'cn-beijing', advice: /in another region\. \(cn-beijing\)$/ },
  },
  {
    source: `${oss403} (PermanentRedirect)`,
    status: 301,
    body: error(
      'PermanentRedirect',
      elsewhere,
      '<Endpoint>media.oss-cn-shanghai-internal.aliyuncs.com</Endpoint>',
    ),
    ...{ code: 'bucket_in_other_place', hint: 'cn-shanghai', advice: /\(cn-shanghai\)$/ },
  },
  {
    source: 'github.com/aliyun/alibabacloud-oss-go-sdk-v2/issues/29',
    status: 400,
    body: error('InvalidArgument', 'Invalid signing region in Authorization header.', ec('0002-00000226')),
    ...{ code: 'region_wrong', advice: /another region/ },
  },
  {
    source: `${amazon} (PermanentRedirect)`,
    status: 301,
    body: error('PermanentRedirect', elsewhere, '<Endpoint>media.s3.us-west-2.amazonaws.com</Endpoint>'),
    headers: { 'x-amz-bucket-region': 'us-west-2' },
    ...{ code: 'bucket_in_other_place', hint: 'us-west-2', advice: /\(us-west-2\)$/ },
  },
  {
    source: `${amazon} (PermanentRedirect), without the header`,
    status: 301,
    body: error('PermanentRedirect', elsewhere, '<Endpoint>media.s3-us-west-2.amazonaws.com</Endpoint>'),
    ...{ code: 'bucket_in_other_place', hint: 'us-west-2', advice: /\(us-west-2\)$/ },
  },
  {
    source: 'github.com/TTLabs/EvaporateJS/issues/364',
    status: 400,
    body: error('AuthorizationHeaderMalformed', "the region 'us-east-1' is wrong; expecting 'eu-central-1'"),
    ...{ code: 'region_wrong', hint: 'eu-central-1', advice: /\(eu-central-1\)$/ },
  },
  ...['InDebt', 'InDebtOverdue'].map((code): Row => ({
    ...{ source: oss403, status: 403, body: error(code, 'Current user is indebted.') },
    ...{ code: 'account_in_arrears', advice: /Settle its bills/ },
  })),
  {
    ...{ source: oss403, status: 403, body: error('BucketDisable', 'BucketDisable') },
    ...{ code: 'bucket_disabled', advice: /disabled the bucket/ },
  },
  {
    ...{ source: oss403, status: 403 },
    body: error('AbnormalBucketOwnerStatus', 'The status of the bucket owner is abnormal'),
    ...{ code: 'bucket_disabled', advice: /the account that owns it/ },
  },
  {
    ...{ source: amazon, status: 403 },
    body: error('AllAccessDisabled', 'All access to this Amazon S3 resource has been disabled.'),
    ...{ code: 'bucket_disabled', advice: /disabled the bucket/ },
  },
  {
    ...{ source: oss403, status: 403 },
    body: error('BucketNotBelongTo', 'The bucket you access does not belong to you'),
    ...{ code: 'bucket_not_owned', advice: /another account/ },
  },
  {
    ...{ source: oss403, status: 403 },
    body: error(
      'NonStandardHostForbidden',
      'Your host is invalid. Please use Open Storage Service standard host',
    ),
    ...{ code: 'endpoint_refused', advice: /Bind the domain to this bucket/ },
  },
  {
    ...{ source: oss403, status: 403, body: error('CnameDenied', 'The cname belongs to another user') },
    ...{ code: 'endpoint_refused', advice: /Bind the domain to this bucket/ },
  },
  {
    ...{ source: `${oss403} (UbsmsInvalidBid)`, step: 'write', status: 403 },
    body: error('UbsmsInvalidBid', 'Your account partner does not have KMS Service'),
    ...{ code: 'encryption_denied', advice: /\(KMS\)/ },
  },
  {
    ...{ source: 'help.aliyun.com/en/oss/user-guide/0005-00000218', step: 'write', status: 403 },
    body: error('AccessDenied', 'KMS is not activated.', ec('0005-00000218')),
    ...{ code: 'encryption_denied', advice: /\(KMS\)/ },
  },
  {
    ...{ source: 'alibabacloud.com/help/en/oss/support/http-status-code-403', step: 'write', status: 403 },
    body: error('AccessDenied', 'This request is forbidden by kms'),
    ...{ code: 'encryption_denied', advice: /\(KMS\)/ },
  },
  {
    ...{ source: `${amazon} (KMS.DisabledException)`, step: 'write', status: 400 },
    body: error(
      'KMS.DisabledException',
      'The request was rejected because the specified KMS key is not enabled.',
    ),
    ...{ code: 'encryption_denied', advice: /\(KMS\)/ },
  },
  {
    ...{ source: 'repost.aws/knowledge-center/s3-troubleshoot-403 (kms)', step: 'write', status: 403 },
    body: error('AccessDenied', 'User is not authorized to perform: kms:GenerateDataKey on the resource'),
    ...{ code: 'encryption_denied', advice: /\(KMS\)/ },
  },
  {
    ...{ source: 'docs.aws.amazon.com: S3, "Object Lock considerations"', step: 'write', status: 400 },
    body: error(
      'InvalidRequest',
      'Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters',
    ),
    ...{ code: 'object_locked', advice: /object lock/ },
  },
  {
    ...{ source: 'minio: cmd/api-errors.go, ErrObjectLocked', step: 'delete', status: 400 },
    body: error('InvalidRequest', 'Object is WORM protected and cannot be overwritten'),
    ...{ code: 'object_locked', advice: /object lock/ },
  },
  ...['InvalidToken', 'ExpiredToken'].map((code): Row => ({
    ...{ source: amazon, status: 400, body: error(code, 'The provided token is malformed or not valid.') },
    ...{ code: 'temporary_keys', advice: /Enter lasting keys/ },
  })),
  ...['InvalidSecurityToken', 'AccessKeyIdAndSecurityTokenNotMatch'].map((code): Row => ({
    ...{ source: oss403, status: 403, body: error(code, 'The security token you provided is invalid.') },
    ...{ code: 'temporary_keys', advice: /Enter lasting keys/ },
  })),
  {
    ...{ source: 'help.aliyun.com/en/oss/user-guide/0002-00000904', status: 403 },
    body: error('InvalidAccessKeyId', 'The OSS Access Key Id is disabled.', ec('0002-00000904')),
    ...{ code: 'access_key_disabled', advice: /disabled/ },
  },
  {
    ...{ source: 'developers.cloudflare.com/r2/api/error-codes', status: 401 },
    body: error('Unauthorized', 'Unauthorized'),
    ...{ code: 'access_key_unknown', advice: /Check both keys/ },
  },
  {
    ...{ source: 'developers.cloudflare.com/r2/api/error-codes (InvalidArgument)', status: 400 },
    body: error('InvalidArgument', 'Credential access key has length 20, should be 32'),
    ...{ code: 'access_key_unknown', advice: /Check both keys/ },
  },
  {
    ...{ source: 'github.com/apache/opendal/issues/6549 (Volcengine TOS)', status: 403 },
    body: error('InvalidPathAccess', 'path style access is not allowed'),
    ...{ code: 'path_style_refused', advice: /https:\/\/<bucket>\.<host>/ },
  },
  {
    ...{ source: 'support.huaweicloud.com/intl/en-us/api-obs/obs_04_0115.html', status: 403 },
    body: error('VirtualHostDomainRequired', 'Virtual host domain is required.'),
    ...{ code: 'path_style_refused', advice: /https:\/\/<bucket>\.<host>/ },
  },
  {
    ...{
      source: 'docs.aws.amazon.com: S3, "Sharing objects with presigned URLs"',
      step: 'read',
      status: 403,
    },
    body: error('AccessDenied', 'Request has expired', '<ServerTime>2026-11-23T00:00:00Z</ServerTime>'),
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

for (const [index, row] of rows.entries()) {
  const { source, step = 'list', status, body, headers = {}, code, hint = null, advice } = row;
  test(`Row ${index + 1}: the reply ${status} to the step ${step} is ${code} (${source})`, (t) => {
    const failure = failureOfReply(step, { status, headers, body: Buffer.from(body) });
    t.deepEqual(failure, { code, hint });
    const text = describeFailure(failure);
    t.true(text.startsWith(`${code}: `));
    t.regex(text.slice(code.length + 2), advice);
    t.notRegex(text, /canary/);
  });
}

test('The test of a key without the right to list goes on', (t) => {
  // alibabacloud.com/help/en/oss/support/0003-00000001; the probe passes a `request_refused` list
  for (const body of [
    error('AccessDenied', 'denied', ec('0003-00000001')),
    error('AccessDenied', 'denied'),
  ]) {
    const failure = failureOfReply('list', { status: 403, headers: {}, body: Buffer.from(body) });
    t.is(failure.code, 'request_refused');
  }
});

test('A header that is no region is no hint', (t) => {
  const headers = { 'x-amz-bucket-region': '<canary>' };
  const body = Buffer.from(error('PermanentRedirect', 'elsewhere'));
  t.deepEqual(failureOfReply('list', { status: 301, headers, body }), {
    code: 'bucket_in_other_place',
    hint: null,
  });
});
