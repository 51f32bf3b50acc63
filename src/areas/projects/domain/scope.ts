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
