import type { ErrorCode } from './error-codes.js';

/** Codes of all aggregates' rejections; see `src/domain/<aggregate>/rejections.ts`. */
export type RejectionCode = 'invalid_request' | 'entitlement_required';

/** What each refusal of a decision is called over HTTP; `errorStatus` gives the status. */
export const rejectionErrors: Readonly<Record<RejectionCode, ErrorCode>> = {
  invalid_request: 'invalid_request',
  entitlement_required: 'entitlement_required',
};
