import { describeFailure, type TestFailure } from './test-failure.js';

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
