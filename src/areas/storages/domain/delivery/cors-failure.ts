import { describeFailure, type TestFailureCode } from './test-failure.js';

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
