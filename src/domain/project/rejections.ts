import { CommandRejected } from '../../event-sourcing/errors.js';

export type ProjectRejection =
  | 'project_not_found'
  /** The user is a member in another role. */
  | 'already_member'
  | 'member_limit_reached';

export function rejectProject(code: ProjectRejection, message: string): never {
  throw new CommandRejected<ProjectRejection>(code, message);
}
