import { type Role, roleAtLeast } from '../role.js';
import { rejectProject } from '../project/rejections.js';
import { type ProjectFields, roleIn } from '../project/fold.js';

/** Owners reach all roles, admins editors and viewers: docs/projects.md#projects-and-roles. @throws CommandRejected */
export function requireReach(project: Pick<ProjectFields, 'members'>, actorId: string, role: Role): void {
  if (reaches(roleIn(project, actorId), role)) return;
  rejectProject('insufficient_role', `your role does not reach members of the role ${role}`);
}

/** @param acting null: no member */
export function reaches(acting: Role | null, role: Role): boolean {
  return acting === 'owner' || (acting === 'admin' && !roleAtLeast(role, 'admin'));
}
