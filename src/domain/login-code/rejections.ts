import { CommandRejected } from '../../event-sourcing/errors.js';

/** `login_code_refused`: there is no code, or it was replaced, used, tried too often, or has expired. */
export type LoginCodeRejection = 'login_code_refused';

export function rejectLoginCode(code: LoginCodeRejection, message: string): never {
  throw new CommandRejected<LoginCodeRejection>(code, message);
}
