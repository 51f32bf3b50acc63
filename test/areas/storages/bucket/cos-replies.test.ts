/*
 * Replies of Tencent COS, each with its source. The codes and statuses are those of the client in Tencent/flare, which
 * repeats the provider's list (cloud.tencent.com/document/product/436/7730).
 */
import test from 'ava';
import { failureOfReply } from '../../../../src/areas/storages/bucket/probing/probe-failure.js';
import { errorDocument, testReplies } from './reply-rows.js';

const list = 'Tencent/flare, flare/net/cos/cos_status.cc';
const inWords = `${list}; the words: readers of COS errors (ERROR_MESSAGE_COS_ACCOUNT_ARREARS)`;
const cloudBase = `${list}; the words: docs.cloudbase.net, HTTP access`;
const denied = 'cloud.tencent.com/document/product/436/54303 (403 Error for COS Access)';
const [write, remove] = [{ step: 'write' }, { step: 'delete' }] as const;

const arrears =
  'UnavailableForLegalReasons: Due to your account is arrears, it is unavailable until you recharge.';

testReplies({
  account_in_arrears: [
    [451, inWords, arrears],
    [402, list, 'PaymentRequired: Payment Required'],
  ],
  bucket_disabled: [[451, list, 'UnavailableForLegalReasons: Unavailable For Legal Reasons']],
  endpoint_refused: [
    [400, cloudBase, 'UserCnameInvalid: Your cname does not exist or format illegal.'],
    [451, list, 'DomainAuditFailed: Domain audit failed.'],
  ],
  clock_skewed: [
    [403, list, 'RequestTimeTooSkewed: RequestTimeTooSkewed'],
    [403, list, 'Request has expired: Request has expired'],
  ],
  encryption_denied: [
    [400, list, 'KmsKeyDisabled: KmsKeyDisabled', write],
    [400, list, 'KmsKeyNotExist: KmsKeyNotExist', write],
    [400, list, 'KmsException: KmsException', write],
  ],
  object_locked: [
    [409, list, 'ObjectLocked: ObjectLocked', remove],
    [409, list, 'BucketLocked: BucketLocked', remove],
  ],
  region_wrong: [
    [400, list, 'InvalidRegionName: InvalidRegionName'],
    [400, list, 'InvalidLocationConstraint: InvalidLocationConstraint'],
  ],
  access_key_unknown: [[403, list, 'InvalidAccessKeyId: The Access Key Id does not exist']],
  signature_mismatch: [[403, list, 'SignatureDoesNotMatch: The Signature does not match']],
  bucket_not_found: [[404, list, 'NoSuchBucket: The specified bucket does not exist.']],
  temporary_keys: [[400, list, 'ExpiredToken: The token has expired.']],
  throttled: [
    [503, list, 'SlowDown: SlowDown', write],
    [503, list, 'KmsFreqControl: KmsFreqControl', write],
  ],
  storage_unavailable: [
    [503, list, 'ServiceUnavailable: ServiceUnavailable', write],
    [503, list, 'InternalError: InternalError', write],
  ],
  write_denied: [[403, denied, 'AccessDenied: Access Denied.', write]],
});

test('The test of a COS key that may not list goes on', async (t) => {
  const body = Buffer.from(errorDocument('AccessDenied', 'Access Denied.'));
  const failure = await failureOfReply('list', { status: 403, headers: {}, body });
  t.is(failure.code, 'request_refused');
});
