/*
 * Replies of Tencent COS, each with its source. The codes and statuses are those of the client in Tencent/flare, which
 * repeats the provider's list (cloud.tencent.com/document/product/436/7730).
 */
import test from 'ava';
import { failureOfReply } from '../../../../src/areas/storages/bucket/probing/probe-failure.js';
import { errorDocument, type ReplyRow, testReplies } from './reply-rows.js';

const list = 'Tencent/flare, flare/net/cos/cos_status.cc';

testReplies([
  {
    ...{
      source: `${list}; the words: readers of COS errors (ERROR_MESSAGE_COS_ACCOUNT_ARREARS)`,
      status: 451,
    },
    body: errorDocument(
      'UnavailableForLegalReasons',
      'Due to your account is arrears, it is unavailable until you recharge.',
    ),
    ...{ code: 'account_in_arrears', advice: /Settle the bills/ },
  },
  {
    ...{ source: list, status: 451 },
    body: errorDocument('UnavailableForLegalReasons', 'Unavailable For Legal Reasons'),
    ...{ code: 'bucket_disabled', advice: /disabled the bucket/ },
  },
  {
    ...{ source: list, status: 402, body: errorDocument('PaymentRequired', 'Payment Required') },
    ...{ code: 'account_in_arrears', advice: /Settle the bills/ },
  },
  {
    ...{ source: `${list}; the words: docs.cloudbase.net, HTTP access`, status: 400 },
    body: errorDocument('UserCnameInvalid', 'Your cname does not exist or format illegal.'),
    ...{ code: 'endpoint_refused', advice: /Bind the domain to this bucket/ },
  },
  {
    ...{ source: list, status: 451, body: errorDocument('DomainAuditFailed', 'Domain audit failed.') },
    ...{ code: 'endpoint_refused', advice: /Bind the domain to this bucket/ },
  },
  ...['RequestTimeTooSkewed', 'Request has expired'].map((code): ReplyRow => ({
    ...{ source: list, status: 403, body: errorDocument(code, code) },
    ...{ code: 'clock_skewed', advice: /clock/ },
  })),
  ...['KmsKeyDisabled', 'KmsKeyNotExist', 'KmsException'].map((code): ReplyRow => ({
    ...{ source: list, step: 'write', status: 400, body: errorDocument(code, code) },
    ...{ code: 'encryption_denied', advice: /\(KMS\)/ },
  })),
  ...['ObjectLocked', 'BucketLocked'].map((code): ReplyRow => ({
    ...{ source: list, step: 'delete', status: 409, body: errorDocument(code, code) },
    ...{ code: 'object_locked', advice: /object lock/ },
  })),
  ...['InvalidRegionName', 'InvalidLocationConstraint'].map((code): ReplyRow => ({
    ...{ source: list, status: 400, body: errorDocument(code, code) },
    ...{ code: 'region_wrong', advice: /another region/ },
  })),
  {
    ...{
      source: list,
      status: 403,
      body: errorDocument('InvalidAccessKeyId', 'The Access Key Id does not exist'),
    },
    ...{ code: 'access_key_unknown', advice: /Check both keys/ },
  },
  {
    ...{
      source: list,
      status: 403,
      body: errorDocument('SignatureDoesNotMatch', 'The Signature does not match'),
    },
    ...{ code: 'signature_mismatch', advice: /Enter both keys again/ },
  },
  {
    ...{
      source: list,
      status: 404,
      body: errorDocument('NoSuchBucket', 'The specified bucket does not exist.'),
    },
    ...{ code: 'bucket_not_found', advice: /Check its name/ },
  },
  {
    ...{ source: list, status: 400, body: errorDocument('ExpiredToken', 'The token has expired.') },
    ...{ code: 'temporary_keys', advice: /Enter lasting keys/ },
  },
  ...[
    ['SlowDown', 'throttled'],
    ['KmsFreqControl', 'throttled'],
    ['ServiceUnavailable', 'storage_unavailable'],
    ['InternalError', 'storage_unavailable'],
  ].map(([code = '', cause = '']): ReplyRow => ({
    ...{ source: list, step: 'write', status: 503, body: errorDocument(code, code) },
    ...{ code: cause === 'throttled' ? 'throttled' : 'storage_unavailable', advice: /Try again later/ },
  })),
  {
    source: 'cloud.tencent.com/document/product/436/54303 (403 Error for COS Access)',
    ...{ step: 'write', status: 403, body: errorDocument('AccessDenied', 'Access Denied.') },
    ...{ code: 'write_denied', advice: /Allow PutObject there/ },
  },
]);

test('The test of a COS key that may not list goes on', async (t) => {
  const body = Buffer.from(errorDocument('AccessDenied', 'Access Denied.'));
  const failure = await failureOfReply('list', { status: 403, headers: {}, body });
  t.is(failure.code, 'request_refused');
});
