import { z } from 'zod';

/** The scopes of API keys (src/areas/projects/README.md#api-keys). */
export const scopes = [
  'storage:read',
  'storage:test',
  'asset:read',
  'asset:write',
  'share:read',
  'share:write',
  'order:read',
  'audit:read',
] as const;

export const scope = z.enum(scopes).meta({ id: 'ApiKeyScope' });
export type Scope = z.infer<typeof scope>;

/** The roles of members. Each role may do all that the earlier ones may (docs/projects.md#projects-and-roles). */
export const roles = ['viewer', 'editor', 'admin', 'owner'] as const;

export const role = z.enum(roles).meta({ id: 'ProjectRole' });
export type Role = z.infer<typeof role>;

export function roleAtLeast(held: Role, required: Role): boolean {
  return roles.indexOf(held) >= roles.indexOf(required);
}
