import type { VerifiedHolder } from '../../../../src/areas/projects/commands/invitations.js';
import { projectCodec, projectCategory } from '../../../../src/areas/projects/domain/project/events.js';
import { userCodec, userCategory } from '../../../../src/areas/accounts/domain/user/events.js';
import type { LogEvent, Sealed } from '../../../../src/event-sourcing/ports/domain-event.js';
import { erased, type Sealer } from '../../../../src/keys/sealing/sealer.js';

interface Invited {
  readonly projectId: string;
  readonly digest: string;
  readonly email: Sealed;
  open: boolean;
}

/**
 * Checks the invariants of invitations once no reaction is due, from the log alone. Returns a violation or null.
 * No account has proved the address of an open invitation. An accepted user has proved the address before. An
 * invitation ends once. An address opens exactly as long as its invitation is open.
 */
export async function problemOf(
  log: readonly LogEvent[],
  { verifiedHolder, sealer }: { readonly verifiedHolder: VerifiedHolder; readonly sealer: Sealer },
): Promise<string | null> {
  const invitations = new Map<string, Invited>();
  /** The proofs of addresses so far, by `<user id>/<digest>`. */
  const proved = new Set<string>();
  const ids = new Set(log.map(({ id }) => id));
  if (ids.size < log.length) return 'two events have one id';
  if (JSON.stringify(log.map(({ data }) => data)).includes('@')) return 'an address stands in clear';

  for (const stored of log) {
    const problem = stored.stream.startsWith(`${userCategory}-`)
      ? takeUserEvent(stored)
      : stored.stream.startsWith(`${projectCategory}-`)
        ? takeProjectEvent(stored)
        : null;
    if (problem !== null) return problem;
  }
  for (const [invitationId, { projectId, digest, email, open }] of invitations) {
    if (open && (await verifiedHolder(digest)) !== null) return `${invitationId} was never accepted`;
    const opened = await sealer.open({ kind: 'invitation', projectId, invitationId }, 'email', email);
    if (open === (opened === erased)) return `${invitationId} ${open ? 'was forgotten' : 'is still known'}`;
  }
  return null;

  function takeUserEvent(stored: LogEvent): null {
    const event = userCodec.decode(stored);
    if (event.type === 'EmailVerified' || event.type === 'EmailChanged') {
      proved.add(`${stored.stream.slice(userCategory.length + 1)}/${event.data.email_digest}`);
    }
    return null;
  }

  function takeProjectEvent(stored: LogEvent): string | null {
    const event = projectCodec.decode(stored);
    const projectId = stored.stream.slice(projectCategory.length + 1);
    if (event.type === 'MemberInvited') {
      const { invitation_id, email_digest: digest, email } = event.data;
      invitations.set(invitation_id, { projectId, digest, email, open: true });
    }
    if (event.type === 'InvitationWithdrawn' && end(event.data.invitation_id) === null) {
      return 'an invitation was withdrawn twice';
    }
    if (event.type === 'MemberAdded' && event.data.invitation_id !== null) {
      const { invitation_id, user_id } = event.data;
      const invitation = end(invitation_id);
      if (invitation === null) return 'an invitation that had ended was accepted';
      const isProved = proved.has(`${user_id}/${invitation.digest}`);
      if (!isProved) return 'a user without a proved address was accepted';
    }
    if (event.type === 'ProjectDeleted') {
      for (const invitation of invitations.values()) {
        if (invitation.projectId === projectId) invitation.open = false;
      }
    }
    return null;
  }

  /** Ends an invitation. Returns null if it had ended before. */
  function end(invitationId: string): Invited | null {
    const invitation = invitations.get(invitationId);
    if (invitation?.open !== true) return null;
    invitation.open = false;
    return invitation;
  }
}
