import test from 'ava';
import type { SessionEvent } from '../../../../src/areas/accounts/domain/session/events.js';
import {
  refreshGraceMs,
  requestMsMax,
  sessionAggregate,
  successorOf,
} from '../../../../src/areas/accounts/domain/session/session.js';
import { rotatedTo, sessionRevoked, sessionStarted, tokenDigest } from '../../../support/examples/session.js';
import { eventTime, firstEventAt, recordEvents } from '../../../support/given/given-events.js';
import { given } from '../../../support/given/given.js';

const start = { type: 'Start', start: sessionStarted.data } as const;
const revoke = { type: 'Revoke', reason: 'signed_out' } as const;

/** Returns when the store recorded the nth given event, in its test time. */
const recorded = (index: number, laterMs = 0) => new Date(Date.parse(eventTime(index)) + 5 + laterMs);

const refresh = (generation: number, now: Date, digest = tokenDigest(generation)) => {
  const { data } = rotatedTo(generation + 1);
  return {
    type: 'Refresh',
    presented: { generation, digest },
    successor: data,
    now,
  } as const;
};

const ends = (generation: number) =>
  [
    { type: 'RefreshTokenReuseDetected', data: { refresh_generation: generation } },
    { type: 'SessionRevoked', data: { reason: 'refresh_token_reused' } },
  ] as const;

/** Returns the events of a decision that is not rejected. */
const decide = (events: readonly SessionEvent[], command: ReturnType<typeof refresh>) =>
  sessionAggregate.decider.decide(command, given(sessionAggregate, ...events).state);

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

test('The current refresh token is replaced, and the repeated command changes nothing', (t) => {
  given(sessionAggregate, sessionStarted)
    .when(refresh(1, recorded(0)))
    .then(t, rotatedTo(2));
});

test('A replaced token changes nothing until its successor is used, and for 10 s more, to the millisecond', (t) => {
  // The store records them a second apart: event 1 replaced generation 1, and event 2 replaced generation 2.
  const days = 13 * 86_400_000;
  t.deepEqual(decide([sessionStarted, rotatedTo(2)], refresh(1, recorded(1, days))), []);
  const events = [sessionStarted, rotatedTo(2), rotatedTo(3)];
  t.deepEqual(decide(events, refresh(1, recorded(2, refreshGraceMs))), []);
  t.deepEqual(decide(events, refresh(1, recorded(2, refreshGraceMs + 1))), ends(1));
  t.deepEqual(decide(events, refresh(2, recorded(2, days))), []);
  const { state } = given(sessionAggregate, ...events);
  const successor = (generation: number) =>
    state.status === 'started' &&
    successorOf(state, { generation, digest: tokenDigest(generation) }, recorded(2))?.refresh_generation;
  t.deepEqual([1, 2, 3].map(successor), [2, 3, undefined]);
});

test('A session keeps a replaced token while a request with it may be under way, and at most 20 of them', (t) => {
  const fold = (everyMs: number) => {
    const events = [sessionStarted, ...Array.from({ length: 40 }, (_, index) => rotatedTo(index + 2))];
    return events.reduce((state, event, index) => {
      const at = new Date(Date.parse(firstEventAt) + index * everyMs);
      const [stored] = recordEvents(sessionAggregate, 'example', [event]);
      if (stored === undefined) throw new Error('one event is one record');
      const recordedEvent = sessionAggregate.codec.decode({ ...stored, recordedAt: at });
      return sessionAggregate.decider.evolve(state, recordedEvent);
    }, sessionAggregate.decider.initialState);
  };
  const remembered = (everyMs: number) => {
    const state = fold(everyMs);
    return state.status === 'started' ? state.replaced.length : NaN;
  };
  t.is(remembered(600_000), 2);
  t.is(remembered(10_000), (refreshGraceMs + requestMsMax) / 10_000 + 2);
  t.is(remembered(1), 20);
});

test('A request that waited is judged by the time of its arrival', (t) => {
  // A later event replaced generation 2. The request with generation 1 arrived before it.
  const { state } = given(sessionAggregate, sessionStarted, rotatedTo(2));
  const [stored] = recordEvents(sessionAggregate, 'example', [rotatedTo(3)]);
  if (stored === undefined) return t.fail();
  const late = sessionAggregate.codec.decode({ ...stored, recordedAt: recorded(1, requestMsMax) });
  const later = sessionAggregate.decider.evolve(state, late);
  t.deepEqual(sessionAggregate.decider.decide(refresh(1, recorded(0)), later), []);
  return undefined;
});

test('A token of a future generation or with another digest does not belong to the session', (t) => {
  const world = given(sessionAggregate, sessionStarted, rotatedTo(2));
  world.when(refresh(3, recorded(1))).thenRejected(t, 'refresh_token_unknown');
  world.when(refresh(2, recorded(1), tokenDigest(9))).thenRejected(t, 'refresh_token_unknown');
  const skipping = { ...refresh(2, recorded(1)), successor: refresh(3, recorded(1)).successor };
  world.when(skipping).thenRejected(t, 'refresh_token_unknown');
});

test('A replaced token with another digest ends the session at once', (t) => {
  t.deepEqual(decide([sessionStarted, rotatedTo(2)], refresh(1, recorded(1), tokenDigest(9))), ends(1));
});

test('A revoked session refuses every refresh', (t) => {
  const world = given(sessionAggregate, sessionStarted, rotatedTo(2), sessionRevoked);
  world.when(refresh(2, recorded(2))).thenRejected(t, 'session_over');
  world.when(refresh(1, recorded(2))).thenRejected(t, 'session_over');
});

test('A session ends at its idle end and at its final end, to the millisecond', (t) => {
  const idleEnd = Date.parse(sessionStarted.data.idle_expires_at);
  const world = given(sessionAggregate, sessionStarted);
  t.deepEqual(decide([sessionStarted], refresh(1, new Date(idleEnd - 1))), [rotatedTo(2)]);
  world.when(refresh(1, new Date(idleEnd))).thenRejected(t, 'session_over');
  const end = sessionStarted.data.expires_at;
  const late = {
    ...rotatedTo(2),
    data: { ...rotatedTo(2).data, idle_expires_at: '2027-01-01T00:00:00.000Z' },
  };
  const refreshed = given(sessionAggregate, sessionStarted, late);
  const justBefore = new Date(Date.parse(end) - 1);
  t.deepEqual(decide([sessionStarted, late], refresh(2, justBefore)), [rotatedTo(3)]);
  refreshed.when(refresh(2, new Date(end))).thenRejected(t, 'session_over');
});

const link = 'l'.repeat(43);
const strengthen = (generation: number, now: Date) =>
  ({
    type: 'Strengthen',
    method: 'otp',
    refresh: { ...refresh(generation - 1, now).successor, link },
    now,
  }) as const;
const strengthened = (generation: number) => {
  const { data } = rotatedTo(generation);
  return { type: 'SessionStrengthened', data: { method: 'otp', refresh: { ...data, link } } } as const;
};

test('Strengthening replaces the refresh token and keeps the link of the new one', (t) => {
  given(sessionAggregate, sessionStarted)
    .when(strengthen(2, recorded(0)))
    .then(t, strengthened(2));
  const { state } = given(sessionAggregate, sessionStarted, strengthened(2));
  t.like(state, { status: 'started', amr: ['pwd', 'otp'], refresh: { refresh_generation: 2, link } });
  // The command did not present the predecessor, but the predecessor may be within its grace.
  t.deepEqual(decide([sessionStarted, strengthened(2)], refresh(1, recorded(1, refreshGraceMs))), []);
  t.deepEqual(
    decide([sessionStarted, strengthened(2)], refresh(1, recorded(1, refreshGraceMs + 1))),
    ends(1),
  );
  // and so may the one before it, although its successor was never used.
  const twice = [sessionStarted, rotatedTo(2), strengthened(3)];
  t.deepEqual(decide(twice, refresh(1, recorded(2, refreshGraceMs))), []);
  t.deepEqual(decide(twice, refresh(1, recorded(2, refreshGraceMs + 1))), ends(1));
});

test('Strengthening after a concurrent refresh is refused, so that it is decided again', (t) => {
  given(sessionAggregate, sessionStarted, rotatedTo(2))
    .when(strengthen(2, recorded(1)))
    .thenRejected(t, 'refresh_token_superseded');
});

test('An ended session is not strengthened', (t) => {
  given(sessionAggregate, sessionStarted, sessionRevoked)
    .when(strengthen(2, recorded(1)))
    .thenRejected(t, 'session_over');
});
