import { z } from 'zod';

/** What an API key may be allowed to do (DESIGN 4.2). */
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

export const scope = z.enum(scopes);
export type Scope = z.infer<typeof scope>;
