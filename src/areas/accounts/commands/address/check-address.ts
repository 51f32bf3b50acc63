import { invalid } from '../../../../validation/invalid-request.js';
import { type EmailAddress, parseEmailAddress } from '../../../../validation/email-address.js';

/** Parses the e-mail address of a request. @throws CommandRejected invalid_request */
export function checkAddress(email: string): EmailAddress {
  return parseEmailAddress(email) ?? invalid('email', 'must be an e-mail address such as name@example.com');
}
