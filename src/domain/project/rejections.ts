import { CommandRejected } from '../../event-sourcing/errors.js';

export type ProjectRejection =
  /** There is no such project, or there is none any more. */
  | 'project_not_found'
  | 'member_not_found'
  | 'api_key_not_found'
  /** The user is a member, or the address is invited, already. */
  | 'already_member'
  | 'member_limit_reached'
  | 'api_key_limit_reached'
  /** The project would be without an owner. */
  | 'last_owner'
  /** The acting member's role does not reach so far. */
  | 'insufficient_role'
  /** The acting member must have the second factor on for this. */
  | 'two_factor_required'
  /** Other members are left, so the project cannot be deleted along with an account. */
  | 'project_has_members';

export function rejectProject(code: ProjectRejection, message: string): never {
  throw new CommandRejected<ProjectRejection>(code, message);
}
