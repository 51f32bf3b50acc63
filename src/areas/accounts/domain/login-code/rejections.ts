import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';

/** `login_code_refused`: the code does not exist, was replaced, used or tried too often, or has expired. */
export type LoginCodeRejection = 'login_code_refused';

export function rejectLoginCode(code: LoginCodeRejection, message: string): never {
  throw new CommandRejected<LoginCodeRejection>(code, message);
}
