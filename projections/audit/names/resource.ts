import { z } from 'zod';

/** What people call a user, a project or a share, beside the stream of its events. */
export const auditNameResource = z
  .strictObject({
    stream: z.string().meta({ examples: ['share-0196a000-0000-7000-8000-000000000002'] }),
    name: z.string().meta({
      description: 'The nickname of a user, the name of a project, the title of a share. No leaf covers it.',
    }),
  })
  .meta({ id: 'AuditName' });
export type AuditNameResource = z.output<typeof auditNameResource>;

/** Kinds of streams that have a name. */
export const namedKinds = ['user', 'project', 'share'] as const;
export type NamedKind = (typeof namedKinds)[number];
