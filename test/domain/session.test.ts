import test from 'ava';
import { sessionAggregate } from '../../src/domain/session/session.js';
import { sessionRevoked, sessionStarted } from '../support/examples/session.js';
import { given } from '../support/given.js';

const start = { type: 'Start', start: sessionStarted.data } as const;
const revoke = { type: 'Revoke', reason: 'signed_out' } as const;

test('A session starts once', (t) => {
  given(sessionAggregate).when(start).then(t, sessionStarted);
});

test('A revoked session does not start again', (t) => {
  given(sessionAggregate, sessionStarted, sessionRevoked).when(start).thenNothing(t);
});

test('A session is revoked once', (t) => {
  given(sessionAggregate, sessionStarted).when(revoke).then(t, sessionRevoked);
});

test('A session that never started cannot be revoked', (t) => {
  given(sessionAggregate).when(revoke).thenRejected(t, 'session_not_found');
});
