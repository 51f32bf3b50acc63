import test from 'ava';
import { emailAggregate } from '../../src/domain/email/email.js';
import type { EmailEvent } from '../../src/domain/email/events.js';
import { otherUserId, userId } from '../support/examples/ids.js';
import { given } from '../support/given.js';

const reserved: EmailEvent = { type: 'EmailReserved', data: { user_id: userId } };
const reservedByOther: EmailEvent = { type: 'EmailReserved', data: { user_id: otherUserId } };
const released: EmailEvent = { type: 'EmailReleased', data: { user_id: userId } };

test('A free address is reserved', (t) => {
  given(emailAggregate).when({ type: 'Reserve', userId, replaces: null }).then(t, reserved);
});

test('A released address is reserved again', (t) => {
  given(emailAggregate, reserved, released)
    .when({ type: 'Reserve', userId: otherUserId, replaces: null })
    .then(t, reservedByOther);
});

test('A reserved address is refused to another user', (t) => {
  given(emailAggregate, reserved)
    .when({ type: 'Reserve', userId: otherUserId, replaces: null })
    .thenRejected(t, 'address_reserved');
});

test('Exactly the reservation that was judged can be replaced', (t) => {
  given(emailAggregate, reserved)
    .when({ type: 'Reserve', userId: otherUserId, replaces: 0n })
    .then(t, reservedByOther);
  given(emailAggregate, reserved, released, reserved)
    .when({ type: 'Reserve', userId: otherUserId, replaces: 0n })
    .thenRejected(t, 'address_reserved');
});

test('A reservation carries the time that the store recorded', (t) => {
  t.deepEqual(given(emailAggregate, reserved).state, {
    status: 'reserved',
    userId,
    revision: 0n,
    reservedAt: new Date('2026-01-02T03:04:05.005Z'),
  });
});

test('Only the holder releases an address', (t) => {
  given(emailAggregate, reserved).when({ type: 'Release', userId }).then(t, released);
  given(emailAggregate, reserved).when({ type: 'Release', userId: otherUserId }).thenNothing(t);
  given(emailAggregate).when({ type: 'Release', userId }).thenNothing(t);
});
