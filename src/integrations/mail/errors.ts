/** The mail was not sent, or nobody knows; it may be tried again. The message names no address and nothing of the mail. */
export class MailNotSent extends Error {
  override readonly name = 'MailNotSent';
}

/** The mail server refused this mail for good: trying again would be refused again. The message names no address. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}

/** What nodemailer tells of a failure; everything else that it says may quote addresses or credentials. */
interface SmtpFailure {
  readonly code?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
}

/** Commands whose refusal speaks of this mail, not of us, the connection or the sender. */
const aboutTheMail: readonly unknown[] = ['RCPT TO', 'DATA'];

/**
 * Sorts a failure by what it was an answer to (RFC 5321, section 4.2.1): 5yz to the recipient or the message is final,
 * save 503, which speaks of the session. All else may go better later: connections, TLS, credentials, our own address.
 */
export function toMailError(error: unknown): MailNotSent | MailRefused {
  const failure: SmtpFailure = typeof error === 'object' && error !== null ? error : {};
  const { code, command, responseCode } = failure;
  if (typeof responseCode === 'number') {
    const message = `the mail server answered ${responseCode}${enhancedStatus(failure)} to ${wordOr(command, 'us')}`;
    const final = responseCode >= 500 && responseCode !== 503 && aboutTheMail.includes(command);
    return final ? new MailRefused(message) : new MailNotSent(message);
  }
  return new MailNotSent(`the mail was not sent: ${wordOr(code, 'the connection failed')}`);
}

/** RFC 3463: digits and dots only, so it can quote nothing. */
function enhancedStatus({ response }: SmtpFailure): string {
  const status =
    typeof response === 'string' ? /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] : undefined;
  return status === undefined ? '' : ` ${status}`;
}

function wordOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && /^[A-Z][A-Z0-9 _]{1,30}$/.test(value) ? value : otherwise;
}
