import { z } from 'zod';

/** The roles of members. Each role may do all that the earlier ones may (docs/projects.md#projects-and-roles). */
export const roles = ['viewer', 'editor', 'admin', 'owner'] as const;

export const role = z.enum(roles).meta({ id: 'ProjectRole' });
export type Role = z.infer<typeof role>;

export function roleAtLeast(held: Role, required: Role): boolean {
  return roles.indexOf(held) >= roles.indexOf(required);
}
