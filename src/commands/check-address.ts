import { invalid } from '../domain/invalid-request.js';
import { type EmailAddress, parseEmailAddress } from '../security/email-address.js';

/** An address as a request names it. @throws CommandRejected invalid_request */
export function checkAddress(email: string): EmailAddress {
  return parseEmailAddress(email) ?? invalid('email', 'must be an e-mail address such as name@example.com');
}
