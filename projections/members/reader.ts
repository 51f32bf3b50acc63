import type { Page, Views } from '../../src/event-sourcing/views.js';
import type { Role } from '../../src/domain/role.js';
import { erased, type Sealer } from '../../src/keys/sealer.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { pageOfEntries } from '../page-of-entries.js';
import { type InvitationEntry, type MemberEntry, projectsProjection } from '../projects/projection.js';
import type { UserReader } from '../users/reader.js';

/** A member of a project, or somebody who has been invited. */
export type MemberResource = {
  /** Of the user, or of the invitation. */
  readonly id: string;
  /** Null for those who may not see addresses. */
  readonly email: string | null;
  /** Null while they have no account. */
  readonly nickname: string | null;
  readonly role: Role;
  readonly status: 'active' | 'invited';
  readonly joined_at: string | null;
  readonly invited_at: string | null;
};

/** Whether addresses are for the one who asks: admins' and owners' only. */
export interface MemberView {
  readonly withAddresses: boolean;
}

export interface OpenInvitation {
  readonly projectId: string;
  readonly invitationId: string;
}

/** The members of projects, with what their accounts say. @throws StoreUnavailable; and what `Sealer.open` throws */
export interface MemberReader {
  /** Members and invitations, newest id first. */
  list(projectId: string, page: Page, view: MemberView): Promise<readonly MemberResource[]>;
  /** A member or an invitation as a command left it, with addresses; null when there is none. */
  after(documents: DocumentsAfter, memberId: string): Promise<MemberResource | null>;
  /** The open invitations of an address in all projects, as far as the view has come. */
  invitationsTo(emailDigest: string): Promise<readonly OpenInvitation[]>;
}

const pageSize = 200;

type Entry = MemberEntry | InvitationEntry;

export function makeMemberReader({
  views,
  sealer,
  users,
}: {
  readonly views: Views;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly users: Pick<UserReader, 'person'>;
}): MemberReader {
  const projects = views.of(projectsProjection);
  return {
    list: async (projectId, page, view) => {
      const document = await projects.get(projectId);
      if (document === null) return [];
      const { members, invitations } = document.body;
      const entries = [...members, ...invitations].map((entry) => ({ id: idOf(entry), entry }));
      return Promise.all(pageOfEntries(entries, page).map(({ entry }) => present(projectId, entry, view)));
    },
    after: async (documents, memberId) => {
      const { id, body } = documentAfter(projectsProjection, documents);
      const entry = [...body.members, ...body.invitations].find((one) => idOf(one) === memberId);
      return entry === undefined ? null : present(id, entry, { withAddresses: true });
    },
    invitationsTo: async (emailDigest) => {
      const where = { field: 'invitations.email_digest', equals: emailDigest };
      const found: OpenInvitation[] = [];
      for (let after: string | undefined; ;) {
        const page = await projects.find({
          where,
          limit: pageSize,
          ...(after === undefined ? {} : { after }),
        });
        for (const { id: projectId, body } of page) {
          const open = body.invitations.filter((invitation) => invitation.email_digest === emailDigest);
          found.push(...open.map(({ id: invitationId }) => ({ projectId, invitationId })));
        }
        after = page.at(-1)?.id;
        if (after === undefined || page.length < pageSize) return found;
      }
    },
  };

  function present(projectId: string, entry: Entry, view: MemberView): Promise<MemberResource> {
    return 'user_id' in entry ? presentMember(entry, view) : presentInvitation(projectId, entry, view);
  }

  /** The account is gone for the moment between an erasure and the end of its memberships. */
  async function presentMember(
    { user_id, role, joined_at }: MemberEntry,
    { withAddresses }: MemberView,
  ): Promise<MemberResource> {
    const account = await users.person(user_id);
    return {
      id: user_id,
      email: withAddresses ? (account?.email ?? null) : null,
      nickname: account?.nickname ?? null,
      role,
      status: 'active',
      joined_at,
      invited_at: null,
    };
  }

  async function presentInvitation(
    projectId: string,
    { id, email, role, invited_at }: InvitationEntry,
    { withAddresses }: MemberView,
  ): Promise<MemberResource> {
    const scope = { kind: 'invitation', projectId, invitationId: id } as const;
    const address = withAddresses ? await sealer.open(scope, 'email', email) : erased;
    return {
      id,
      email: address === erased ? null : address,
      nickname: null,
      role,
      status: 'invited',
      joined_at: null,
      invited_at,
    };
  }
}

function idOf(entry: Entry): string {
  return 'user_id' in entry ? entry.user_id : entry.id;
}
