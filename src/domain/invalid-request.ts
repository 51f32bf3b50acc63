import { CommandRejected } from '../event-sourcing/ports/errors.js';

/** The input breaks a rule that does not depend on state. */
export type InvalidRequest = 'invalid_request';

/** Rejects a field, named as in the request. The message never contains the value. @throws CommandRejected */
export function invalid(field: string, problem: string): never {
  throw new CommandRejected<InvalidRequest>('invalid_request', `${field}: ${problem}`);
}
