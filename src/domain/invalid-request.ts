import { CommandRejected } from '../event-sourcing/errors.js';

/** The input breaks a rule of its own, whatever the state. */
export type InvalidRequest = 'invalid_request';

/** @param field as it is spelled in the request; a value never gets into the message */
export function invalid(field: string, problem: string): never {
  throw new CommandRejected<InvalidRequest>('invalid_request', `${field}: ${problem}`);
}
