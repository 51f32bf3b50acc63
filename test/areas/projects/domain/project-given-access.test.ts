import type { ProjectEvent } from '../../../../src/areas/projects/domain/project/events.js';
import {
  projectAggregate,
  type ProjectCommand,
} from '../../../../src/areas/projects/domain/project/project.js';
import type { Role } from '../../../../src/areas/projects/domain/role.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { digest, otherUserId, userId } from '../../../support/examples/ids.js';
import {
  apiKeyId,
  apiKeyIssued,
  apiKeyRevoked,
  memberAdded,
  memberId,
  memberRemoved,
  projectCreated,
} from '../../../support/examples/project.js';
import { testDecisions } from '../../../support/given/decisions.js';
import { recordedAt } from '../../../support/given/given-events.js';

const [friend, helper, late, honest] = [otherUserId, memberId(1), memberId(2), memberId(3)];
const inviteId = (id: string) => id.replace('019b7d00', '019b7d0f');

const invited = (id: string, by: string, role: Role = 'editor'): ProjectEvent => ({
  type: 'MemberInvited',
  data: {
    invitation_id: inviteId(id),
    email: sealedExample('a@example.com'),
    email_digest: digest,
    role,
    invited_by: by,
  },
});
const joined = (id: string, role: Role = 'editor'): ProjectEvent => ({
  type: 'MemberAdded',
  data: { user_id: id, role, invitation_id: inviteId(id) },
});
const withdrawn = (id: string): ProjectEvent => ({
  type: 'InvitationWithdrawn',
  data: { invitation_id: inviteId(id) },
});
const roleChanged = (id: string, role: Role): ProjectEvent => ({
  type: 'MemberRoleChanged',
  data: { user_id: id, role },
});
const billedTo = (id: string): ProjectEvent => ({ type: 'BillingChanged', data: { user_id: id } });
const end = (
  until: Date | null,
  members: 'stay' | 'end' = 'end',
  now = recordedAt(1_000),
): ProjectCommand => ({ type: 'EndGivenAccess', userId, until, now, members });

/** A stranger who registered an address made this project (0), and gave access to it until 7. */
const history: readonly ProjectEvent[] = [
  projectCreated,
  invited(friend, userId, 'owner'),
  joined(friend, 'owner'),
  invited(helper, friend),
  joined(helper),
  apiKeyIssued(apiKeyId, userId),
  apiKeyIssued(memberId(9), friend),
  invited(late, userId),
];

const owner = { ...projectCreated, data: { ...projectCreated.data, owner_id: honest } };

testDecisions(projectAggregate, {
  'The end of given access removes members along the whole chain, keys and invitations, and keeps the account':
    [
      [
        history,
        end(recordedAt(7)),
        [
          memberRemoved(friend),
          memberRemoved(helper),
          apiKeyRevoked(apiKeyId),
          apiKeyRevoked(memberId(9)),
          withdrawn(late),
        ],
      ],
    ],
  'Access that the account gave after the moment stays, also when the command comes late': [
    [
      [...history, invited(honest, userId), joined(honest), apiKeyIssued(memberId(8), userId)],
      end(recordedAt(7)),
      [
        memberRemoved(friend),
        memberRemoved(helper),
        apiKeyRevoked(apiKeyId),
        apiKeyRevoked(memberId(9)),
        withdrawn(late),
      ],
    ],
  ],
  'Access that the account gave while the clock was ahead of the moment ends too': [
    [
      [projectCreated, apiKeyIssued(apiKeyId, userId), invited(friend, userId), joined(friend)],
      end(recordedAt(-3_600), 'end', recordedAt(-3_599)),
      [memberRemoved(friend), apiKeyRevoked(apiKeyId)],
    ],
  ],
  'A member whom a removed one adds after the moment is removed too': [
    [
      [...history.slice(0, 3), invited(helper, friend), joined(helper)],
      end(recordedAt(2)),
      [memberRemoved(friend), memberRemoved(helper)],
    ],
  ],
  'An account that a removed owner has demoted owns the project again': [
    [
      [...history.slice(0, 3), roleChanged(userId, 'viewer')],
      end(recordedAt(3)),
      [roleChanged(userId, 'owner'), billedTo(userId), memberRemoved(friend)],
    ],
  ],
  'A removed owner whose removal came before the end takes no owner from the project': [
    [[...history.slice(0, 3), memberRemoved(userId)], end(recordedAt(3)), []],
  ],
  'An acceptance that comes after the moment does not save an invitation of before': [
    [[projectCreated, invited(friend, userId), joined(friend)], end(recordedAt(1)), [memberRemoved(friend)]],
  ],
  'Access of others in a project that the account joined stays': [
    [
      [
        owner,
        invited(userId, honest, 'admin'),
        joined(userId, 'admin'),
        apiKeyIssued(apiKeyId, honest),
        invited(helper, honest),
        joined(helper),
        apiKeyIssued(memberId(8), userId),
      ],
      end(recordedAt(6)),
      [apiKeyRevoked(memberId(8))],
    ],
  ],
  'A ban ends keys and invitations of any time, and no membership': [
    [history, end(null, 'stay'), [apiKeyRevoked(apiKeyId), withdrawn(late)]],
  ],
  'A deleted project, and a member of unknown origin, have nothing to end': [
    [[...history, { type: 'ProjectDeleted', data: {} }], end(null), []],
    [[projectCreated, memberAdded(friend, 'owner')], end(recordedAt(9)), []],
  ],
});
