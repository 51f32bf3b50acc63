import type { Page, Views } from '../../../src/event-sourcing/views/views.js';
import { type Sealer, erased } from '../../../src/keys/sealing/sealer.js';
import { type DocumentsAfter, documentAfter } from '../../resource-of.js';
import { everyOf, type FilterOf, matchesOf } from '../../filtered-page.js';
import { pageOfEntries } from '../../paging.js';
import {
  invitationExpiry,
  openAt,
  ownershipOfferTo,
} from '../../../src/areas/projects/domain/project/open-offers.js';
import type {
  InvitationEntry,
  MemberEntry,
  OfferEntry,
  ProjectFields,
} from '../../../src/areas/projects/domain/project/fold.js';
import { projectsProjection } from '../projects/projection.js';
import type { ProjectAccess } from '../projects/reader.js';
import type { UserReader, UserResource } from '../../accounts/users/reader.js';
import { z } from 'zod';
import { entityId, instant, namedObject } from '../../../src/validation/fields.js';
import { role } from '../../../src/areas/projects/domain/role.js';

/** A member of a project, or an invited person (src/areas/projects/README.md#members). */
export const memberResource = namedObject('Member', {
  id: entityId.describe('Of the user; of the invitation while `joined_at` is null.'),
  email: z.string().nullable().describe('Null for callers who are neither admin nor owner.'),
  nickname: z.string().nullable().describe('Null until the person is a member.'),
  role: role.describe(
    'The role that a member has, also while another one is offered; else the invited role.',
  ),
  status: z
    .enum(['active', 'invited', 'offered'])
    .describe('`offered`: the role of owner is offered, and the person has not accepted it yet.'),
  joined_at: instant.nullable().describe('Null until the person is a member.'),
  invited_at: instant.nullable().describe('Null for members.'),
  offer: namedObject('MemberOffer', {
    id: entityId.describe('DELETE of the member with this id withdraws the offer.'),
    role,
    expires_at: instant,
  })
    .nullable()
    .describe('Null unless `status` is `offered`.'),
});
export type MemberResource = z.infer<typeof memberResource>;

interface MemberView {
  /** Whether the caller may see addresses: only admins and owners may. */
  readonly withAddresses: boolean;
  /** Omits offers and invitations that have expired by now. */
  readonly now: Date;
}

/** Reads the members of projects with data of their accounts. @throws StoreUnavailable; errors of `Sealer.open` */
export type MemberReader = ReturnType<typeof makeMemberReader>;

type Entry = MemberEntry | InvitationEntry;

export function makeMemberReader(deps: {
  readonly views: Views;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly users: Pick<UserReader, 'people'>;
}) {
  const { views, sealer, users } = deps;
  const projects = views.of(projectsProjection);
  return {
    /** Lists the members and invitations that the view selects, newest id first. */
    list: async (
      { document: { id, body } }: Pick<ProjectAccess, 'document'>,
      page: Page,
      view: MemberView & { readonly filter?: FilterOf<MemberResource, 'role' | 'status'> },
    ) => {
      const { members, invitations, offers } = openAt(body, view.now);
      const matches = matchesOf(view.filter ?? {});
      const entries = [...members, ...invitations]
        .filter((entry) => matches?.({ role: entry.role, status: statusOf(entry, { offers }) }) ?? true)
        .map((entry) => ({ id: idOf(entry), entry }));
      return present(
        { id, offers },
        pageOfEntries(entries, page).map(({ entry }) => entry),
        view,
      );
    },
    /** Returns a member or an invitation after a command, with the address; null if it does not exist. */
    after: async (documents: DocumentsAfter, memberId: string, now: Date) => {
      const { id, body } = documentAfter(projectsProjection, documents);
      const { members, invitations, offers } = openAt(body, now);
      const entry = [...members, ...invitations].find((one) => idOf(one) === memberId);
      if (entry === undefined) return null;
      const [member = null] = await present({ id, offers }, [entry], { withAddresses: true, now });
      return member;
    },
    /** Lists the open invitations of an address in all projects. The view may be stale. */
    invitationsTo: async (email_digest: string) => {
      const where = { field: 'invitations.email_digest', equals: email_digest };
      const found: { readonly projectId: string; readonly invitationId: string }[] = [];
      for await (const { id: projectId, body } of everyOf((page) => projects.find({ where, ...page }))) {
        const open = body.invitations.filter((invitation) => invitation.email_digest === email_digest);
        found.push(...open.map(({ id: invitationId }) => ({ projectId, invitationId })));
      }
      return found;
    },
  };

  /** Reads the accounts of all members at once. */
  async function present(
    { id: projectId, offers }: Pick<ProjectFields, 'offers'> & { readonly id: string },
    entries: readonly Entry[],
    view: MemberView,
  ): Promise<readonly MemberResource[]> {
    const people = await users.people(
      entries.flatMap((entry) => ('user_id' in entry ? [entry.user_id] : [])),
    );
    return Promise.all(
      entries.map(async (entry) =>
        'user_id' in entry
          ? presentMember(entry, people.get(entry.user_id), ownershipOfferTo({ offers }, entry.user_id), view)
          : presentInvitation(projectId, entry, view),
      ),
    );
  }

  async function presentInvitation(
    projectId: string,
    entry: InvitationEntry,
    { withAddresses }: MemberView,
  ): Promise<MemberResource> {
    const { id, email, role, invited_at } = entry;
    const expiry = invitationExpiry(entry);
    const scope = { kind: 'invitation', projectId, invitationId: id } as const;
    const address = withAddresses ? await sealer.open(scope, 'email', email) : erased;
    return {
      id,
      email: address === erased ? null : address,
      nickname: null,
      role,
      status: statusOf(entry, { offers: [] }),
      joined_at: null,
      invited_at,
      offer: expiry === null ? null : { id, role, expires_at: expiry.toISOString() },
    };
  }
}

/** @param account undefined between its erasure and the end of its memberships */
function presentMember(
  { user_id, role, joined_at }: MemberEntry,
  account: Pick<UserResource, 'email' | 'nickname'> | undefined,
  offer: OfferEntry | null,
  { withAddresses }: MemberView,
): MemberResource {
  return {
    id: user_id,
    email: withAddresses ? (account?.email ?? null) : null,
    nickname: account?.nickname ?? null,
    role,
    status: offer === null ? 'active' : 'offered',
    joined_at,
    invited_at: null,
    offer: offer === null ? null : { id: offer.id, role: 'owner', expires_at: offer.expires_at },
  };
}

function statusOf(entry: Entry, project: Pick<ProjectFields, 'offers'>): MemberResource['status'] {
  if (!('user_id' in entry)) return invitationExpiry(entry) === null ? 'invited' : 'offered';
  return ownershipOfferTo(project, entry.user_id) === null ? 'active' : 'offered';
}

function idOf(entry: Entry): string {
  return 'user_id' in entry ? entry.user_id : entry.id;
}
