import { namedObject } from '../../../src/validation/fields.js';
import type { Views } from '../../../src/event-sourcing/views/views.js';
import { type Sealer, erased } from '../../../src/keys/sealing/sealer.js';
import type { UserReader } from '../../accounts/users/reader.js';
import { projectsProjection } from '../../projects/projects/projection.js';
import { sharesProjection } from '../../shares/shares/projection.js';
import { z } from 'zod';

/** What people call a user, a project or a share, beside the stream of its events. */
export const auditNameResource = namedObject('AuditName', {
  stream: z.string().meta({ examples: ['share-0196a000-0000-7000-8000-000000000002'] }),
  name: z
    .string()
    .describe('The nickname of a user, the name of a project, the title of a share. No leaf covers it.'),
});

/** Kinds of streams that have a name. */
export const namedKinds = ['user', 'project', 'share'] as const;
type NamedKind = (typeof namedKinds)[number];

export type AuditNameReader = ReturnType<typeof makeAuditNameReader>;

/** Makes the reader. It opens nicknames and titles, never an address. */
export function makeAuditNameReader(deps: {
  readonly views: Views;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly users: Pick<UserReader, 'people'>;
}) {
  const { views, sealer, users } = deps;
  const projects = views.of(projectsProjection);
  const shares = views.of(sharesProjection);
  return {
    /**
     * Returns the present names of streams `<kind>-<id>`, in the order of the streams. Those without a name are left out: a share
     * without a title, and what does not exist any more. @throws StoreUnavailable
     */
    names: async (streams: readonly string[]) => {
      const idsOf = (kind: NamedKind): readonly string[] =>
        streams.flatMap((stream) => (stream.startsWith(`${kind}-`) ? [stream.slice(kind.length + 1)] : []));
      const [people, projectDocuments, titles] = await Promise.all([
        users.people(idsOf('user')),
        projects.getMany(idsOf('project')),
        titlesOf(idsOf('share')),
      ]);
      const names = new Map([
        ...[...people].map(([id, { nickname }]) => [`user-${id}`, nickname] as const),
        ...projectDocuments.map(({ id, body }) => [`project-${id}`, body.name] as const),
        ...titles,
      ]);
      return streams.flatMap((stream) => {
        const name = names.get(stream);
        return name === undefined ? [] : [{ stream, name }];
      });
    },
  };

  async function titlesOf(ids: readonly string[]): Promise<readonly (readonly [string, string])[]> {
    const opened = (await shares.getMany(ids)).map(async ({ id, body: { project_id: projectId, title } }) => {
      if (title === null) return [];
      const text = await sealer.open({ kind: 'share', projectId, shareId: id }, 'title', title);
      return text === erased ? [] : [[`share-${id}`, text] as const];
    });
    return (await Promise.all(opened)).flat();
  }
}
