import type { Rejection } from '../commands/rejections.js';
import type { ErrorCode } from './error-codes.js';

/** What each refusal of a use case or a decision is called over HTTP; `errorStatus` gives the status. */
export const rejectionErrors: Readonly<Record<Rejection, ErrorCode>> = {
  invalid_request: 'invalid_request',
  email_taken: 'email_taken',
  address_reserved: 'conflict',
  registration_abandoned: 'conflict',
  already_registered: 'conflict',
  user_not_found: 'not_found',
  session_not_found: 'not_found',
  project_not_found: 'not_found',
  already_member: 'conflict',
  member_limit_reached: 'conflict',
  entitlement_required: 'entitlement_required',
  storage_limit_reached: 'conflict',
  node_not_found: 'not_found',
};
