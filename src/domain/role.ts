import { z } from 'zod';

/** What a member may do; each role may do all that the ones before it may (DESIGN 4.2). */
export const roles = ['viewer', 'editor', 'admin', 'owner'] as const;

export const role = z.enum(roles);
export type Role = z.infer<typeof role>;

/** Whether a role is the required one or a higher one. */
export function roleAtLeast(held: Role, required: Role): boolean {
  return roles.indexOf(held) >= roles.indexOf(required);
}
