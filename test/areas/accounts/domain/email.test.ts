import test from 'ava';
import { emailAggregate, type EmailCommand } from '../../../../src/areas/accounts/domain/email/email.js';
import { type EmailEvent } from '../../../../src/areas/accounts/domain/email/events.js';
import { change_id, otherChangeId, otherUserId, userId } from '../../../support/examples/ids.js';
import { testDecisions } from '../../../support/given/decisions.js';
import { given } from '../../../support/given/given.js';

const reservedFor = (user: string, change: string | null = null): EmailEvent => ({
  type: 'EmailReserved',
  data: { user_id: user, change_id: change },
});
const reserve = (user: string, replaces: bigint | null, change: string | null = null): EmailCommand => ({
  type: 'Reserve',
  userId: user,
  change_id: change,
  replaces,
});
const reserved = reservedFor(userId);
const released: EmailEvent = { type: 'EmailReleased', data: { user_id: userId } };

testDecisions(emailAggregate, {
  'A free address is reserved': [
    [[], reserve(userId, null), [reserved]],
    [[], reserve(userId, null, change_id), [reservedFor(userId, change_id)]],
  ],
  'A released address is reserved again': [
    [[reserved, released], reserve(otherUserId, null), [reservedFor(otherUserId)]],
  ],
  'An address that another user has reserved is refused': [
    [[reserved], reserve(otherUserId, null), 'address_reserved'],
  ],
  'A reservation is replaced only at the revision that the command read': [
    [[reserved], reserve(otherUserId, 0n), [reservedFor(otherUserId)]],
    [[reserved, released, reserved], reserve(otherUserId, 0n), 'address_reserved'],
  ],
});

test('A reservation for an earlier change is replaced by one for this change', (t) => {
  for (const earlier of [reserved, reservedFor(userId, otherChangeId)]) {
    given(emailAggregate, earlier)
      .when(reserve(userId, 0n, change_id))
      .then(t, reservedFor(userId, change_id));
    given(emailAggregate, earlier)
      .when(reserve(userId, null, change_id))
      .thenRejected(t, 'address_reserved');
  }
});

test('A reservation carries its user, its change and the time that the store recorded', (t) => {
  t.deepEqual(given(emailAggregate, reservedFor(userId, change_id)).state, {
    status: 'reserved',
    user_id: userId,
    change_id,
    revision: 0n,
    reservedAt: new Date('2026-01-02T03:04:05.005Z'),
  });
});

testDecisions(emailAggregate, {
  'A reservation is released only at the revision that the command read': [
    [[reserved], { type: 'Release', revision: 0n }, [released]],
    [[reserved, reservedFor(userId, change_id)], { type: 'Release', revision: 0n }, []],
    [[], { type: 'Release', revision: 0n }, []],
  ],
});
