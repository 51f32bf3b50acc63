import { MailRefused } from './errors.js';
import { isPlainAddress } from './mailbox.js';
import type { Mailer } from './mailer.js';

export interface LoggedMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * Makes a mailer that hands each mail, with code and address, to a log. The configuration accepts it for a development
 * start only.
 */
export function makeLogMailer(write: (mail: LoggedMail) => void): Mailer {
  return {
    send: ({ to: { address }, subject, text }) => {
      // The mailer that sends refuses such an address too.
      if (!isPlainAddress(address)) {
        return Promise.reject(new MailRefused('the address is none that mail is sent to'));
      }
      write({ to: address, subject, text });
      return Promise.resolve();
    },
  };
}
