import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';

export type ProjectRejection =
  /** The project does not exist or was deleted. */
  | 'project_not_found'
  | 'member_not_found'
  | 'api_key_not_found'
  /** An earlier attempt of the command issued the key. The key itself cannot be shown again. */
  | 'api_key_issued_before'
  /** The user is a member, or the address is invited, already. */
  | 'already_member'
  | 'member_limit_reached'
  /** The user owns, or pays for, as many projects as a user may. */
  | 'project_limit_reached'
  | 'api_key_limit_reached'
  /** The project would have no owner. */
  | 'last_owner'
  /** The project is billed to this owner, and would have no payer. */
  | 'payer_needed'
  /** The offer or invitation does not exist, is not the user's, or has ended. */
  | 'offer_not_found'
  /** The role of the acting member is too low. */
  | 'insufficient_role'
  /** The project requires a second factor, which the session of the acting member has not passed. */
  | 'two_factor_required'
  /** The project has other members, so the erasure of an account cannot delete it. */
  | 'project_has_members';

export function rejectProject(code: ProjectRejection, message: string): never {
  throw new CommandRejected<ProjectRejection>(code, message);
}

export function projectNotFound(): never {
  return rejectProject('project_not_found', 'there is no such project');
}

export function memberNotFound(): never {
  return rejectProject('member_not_found', 'there is no such member');
}
