import { invalid } from '../../../../validation/invalid-request.js';
import type { AccountDeps } from '../../deps.js';
import { type EmailAddress, parseEmailAddress } from '../../../../validation/email-address.js';

/** Parses the e-mail address of a request. @throws CommandRejected invalid_request */
export function checkAddress(email: string): EmailAddress {
  return parseEmailAddress(email) ?? invalid('email', 'must be an e-mail address such as name@example.com');
}

/** Rejects an address that the mail server cannot take, so that no code for it could arrive. @throws CommandRejected invalid_request */
export async function requireMailable(
  { cannotMail }: Pick<AccountDeps, 'cannotMail'>,
  { address }: EmailAddress,
): Promise<void> {
  if (await cannotMail(address)) {
    const problem = 'must have only ASCII characters before the @, because the mail server lacks SMTPUTF8';
    invalid('email', problem, 'not_allowed');
  }
}
