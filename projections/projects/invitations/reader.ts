import { invitationExpiry, openAt } from '../../../src/areas/projects/domain/project/open-offers.js';
import type { Page, ViewDocument, Views } from '../../../src/event-sourcing/views/views.js';
import { type ProjectDocument, projectsProjection } from '../projects/projection.js';
import { everyOf, pageFrom } from '../../filtered-page.js';
import type { UserReader } from '../../accounts/users/reader.js';
import { z } from 'zod';
import { entityId, instant, namedObject } from '../../../src/validation/fields.js';
import { offerKind } from '../../../src/areas/projects/domain/project/events.js';
import { role } from '../../../src/areas/projects/domain/role.js';

/** An invitation or an offer as the person sees it whom it is addressed to (src/areas/projects/README.md#offers). */
export const invitationResource = namedObject('Invitation', {
  id: entityId,
  kind: z
    .enum(['membership', ...offerKind.options])
    .describe(
      '`membership`: the person becomes a member with `role`; `owner`: a member becomes an owner; `payer`: the assets of the project use the capacity of the person; `both`: a member becomes an owner and the payer.',
    ),
  project: z.strictObject({ id: entityId, name: z.string() }),
  role: role.nullable().describe('The role after the acceptance; null for `payer`.'),
  invited_by: z.string().nullable().describe('The nickname; null where the account is gone.'),
  created_at: instant,
  expires_at: instant.nullable().describe('Null: never.'),
});
type InvitationResource = z.infer<typeof invitationResource>;

/** Whom invitations and offers are addressed to. */
interface Addressee {
  readonly id: string;
  /** Of the proved address; null where the user has proved none. */
  readonly email_digest: string | null;
}

/** Reads the open invitations and offers of a user. A project has at most one. @throws StoreUnavailable */
export type InvitationReader = ReturnType<typeof makeInvitationReader>;

interface Entry extends Omit<InvitationResource, 'invited_by'> {
  /** The user id of the member who invites or offers. */
  readonly invitedBy: string;
}

const readAtOnce = 200;

export function makeInvitationReader(deps: {
  readonly views: Views;
  readonly users: Pick<UserReader, 'people'>;
}) {
  const { views, users } = deps;
  const projects = views.of(projectsProjection);
  return {
    /** Lists them by project, the newest project first. `Page.after` is the id of a project. */
    list: async (user: Addressee, page: Page, now: Date) => present(await entries(user, page, now)),
    find: async (user: Addressee, invitationId: string, now: Date) => {
      for (let after: string | undefined; ;) {
        const found = await entries(user, pageFrom(after, readAtOnce), now);
        const entry = found.find(({ id }) => id === invitationId);
        if (entry !== undefined) return { ...entry, projectId: entry.project.id };
        after = found.at(-1)?.project.id;
        if (after === undefined) return null;
      }
    },
  };

  async function entries(user: Addressee, page: Page, now: Date): Promise<readonly Entry[]> {
    const { id, email_digest } = user;
    const entryOf = (document: ViewDocument<ProjectDocument>) => addressedTo(document, user, now);
    const [offered, invited] = await Promise.all([
      read({ field: 'offers.user_id', equals: id }, page, entryOf),
      email_digest === null
        ? []
        : read({ field: 'invitations.email_digest', equals: email_digest }, page, entryOf),
    ]);
    // One project may be found by both.
    const byProject = new Map([...invited, ...offered].map((entry) => [entry.project.id, entry]));
    return [...byProject.values()]
      .sort((a, b) => (a.project.id < b.project.id ? 1 : -1))
      .slice(0, page.limit);
  }

  /** Reads past expired ones, which stay stored, until the page is full. */
  async function read(
    where: { readonly field: string; readonly equals: string },
    { after, limit }: Page,
    entryOf: (document: ViewDocument<ProjectDocument>) => Entry | null,
  ): Promise<readonly Entry[]> {
    const found: Entry[] = [];
    const documents = everyOf((page) => projects.find({ where, descending: true, ...page }), after);
    for await (const document of documents) {
      const entry = entryOf(document);
      if (entry !== null) found.push(entry);
      if (found.length >= limit) break;
    }
    return found;
  }

  async function present(found: readonly Entry[]): Promise<readonly InvitationResource[]> {
    const people = await users.people([...new Set(found.map(({ invitedBy }) => invitedBy))]);
    return found.map(({ invitedBy, ...entry }) => {
      return { ...entry, invited_by: people.get(invitedBy)?.nickname ?? null };
    });
  }
}

function addressedTo(
  { id: projectId, body }: ViewDocument<ProjectDocument>,
  { id: userId, email_digest }: Addressee,
  now: Date,
): Entry | null {
  const { name, offers, invitations } = openAt(body, now);
  const project = { id: projectId, name };
  const offer = offers.find(({ user_id }) => user_id === userId);
  if (offer !== undefined) {
    const { id, kind, offered_by: invitedBy, offered_at: created_at, expires_at } = offer;
    return { id, kind, project, role: kind === 'payer' ? null : 'owner', invitedBy, created_at, expires_at };
  }
  const invitation = invitations.find((sent) => sent.email_digest === email_digest);
  if (invitation === undefined) return null;
  const { id, role, invited_by: invitedBy, invited_at: created_at } = invitation;
  const expires_at = invitationExpiry(invitation)?.toISOString() ?? null;
  return { id, kind: 'membership', project, role, invitedBy, created_at, expires_at };
}
