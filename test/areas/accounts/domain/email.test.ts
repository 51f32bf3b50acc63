import test from 'ava';
import { emailAggregate, type EmailCommand } from '../../../../src/areas/accounts/domain/email/email.js';
import { type EmailEvent } from '../../../../src/areas/accounts/domain/email/events.js';
import { change_id, otherChangeId, otherUserId, userId } from '../../../support/examples/ids.js';
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

test('A free address is reserved', (t) => {
  given(emailAggregate).when(reserve(userId, null)).then(t, reserved);
  given(emailAggregate)
    .when(reserve(userId, null, change_id))
    .then(t, reservedFor(userId, change_id));
});

test('A released address is reserved again', (t) => {
  given(emailAggregate, reserved, released)
    .when(reserve(otherUserId, null))
    .then(t, reservedFor(otherUserId));
});

test('An address that another user has reserved is refused', (t) => {
  given(emailAggregate, reserved).when(reserve(otherUserId, null)).thenRejected(t, 'address_reserved');
});

test('A reservation is replaced only at the revision that the command read', (t) => {
  given(emailAggregate, reserved).when(reserve(otherUserId, 0n)).then(t, reservedFor(otherUserId));
  given(emailAggregate, reserved, released, reserved)
    .when(reserve(otherUserId, 0n))
    .thenRejected(t, 'address_reserved');
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

test('A reservation is released only at the revision that the command read', (t) => {
  given(emailAggregate, reserved).when({ type: 'Release', revision: 0n }).then(t, released);
  given(emailAggregate, reserved, reservedFor(userId, change_id))
    .when({ type: 'Release', revision: 0n })
    .thenNothing(t);
  given(emailAggregate).when({ type: 'Release', revision: 0n }).thenNothing(t);
});
