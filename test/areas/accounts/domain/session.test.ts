import test from 'ava';
import type { SessionEvent } from '../../../../src/areas/accounts/domain/session/events.js';
import {
  refreshGraceMs,
  requestMsMax,
  sessionAggregate,
} from '../../../../src/areas/accounts/domain/session/session.js';
import { rotatedTo, sessionRevoked, sessionStarted, tokenDigest } from '../../../support/examples/session.js';
import { eventTime, firstEventAt, recordEvents } from '../../../support/given/given-events.js';
import { testDecisions } from '../../../support/given/decisions.js';
import { given } from '../../../support/given/given.js';

const start = { type: 'Start', start: sessionStarted.data } as const;
const revoke = { type: 'Revoke', reason: 'signed_out' } as const;

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

/** Returns the time of the nth given event, or a time after that. */
const at = (index: number, laterMs = 0) => new Date(Date.parse(eventTime(index)) + laterMs);

/** Returns the events of a decision that is not rejected. */
const decide = (events: readonly SessionEvent[], command: ReturnType<typeof refresh>) =>
  sessionAggregate.decider.decide(command, given(sessionAggregate, ...events).state);

const provedAt = (method: 'pwd' | 'passkey', auth_time: string) =>
  ({ type: 'SessionReauthenticated', data: { method, auth_time } }) as const;
const [afterStart, later] = ['2026-01-02T03:04:06.000Z', '2026-01-02T03:04:07.000Z'] as const;
const byPasskey: SessionEvent = { ...sessionStarted, data: { ...sessionStarted.data, amr: ['passkey'] } };

testDecisions(sessionAggregate, {
  'A passkey that is proved beside a later proof of the password counts, and the session is not less fresh': [
    [
      [byPasskey, provedAt('pwd', later)],
      { type: 'Reauthenticate', method: 'passkey', now: new Date(afterStart) },
      [provedAt('passkey', later)],
    ],
  ],
  'A session starts once': [[[], start, [sessionStarted]]],
  'A revoked session does not start again': [[[sessionStarted, sessionRevoked], start, []]],
  'A session is revoked once': [[[sessionStarted], revoke, [sessionRevoked]]],
  'A session that never started cannot be revoked': [[[], revoke, 'session_not_found']],
  'The current refresh token is replaced, and the repeated command changes nothing': [
    [[sessionStarted], refresh(1, at(0)), [rotatedTo(2)]],
  ],
});

test('A session keeps a replaced token while a request with it may be under way, and at most 20 of them', (t) => {
  const fold = (everyMs: number) => {
    const events = [sessionStarted, ...Array.from({ length: 40 }, (_, index) => rotatedTo(index + 2))];
    return events.reduce((state, event, index) => {
      const time = new Date(Date.parse(firstEventAt) + index * everyMs).toISOString();
      const [stored] = recordEvents(sessionAggregate, 'example', [event]);
      if (stored === undefined) throw new Error('one event is one record');
      const recordedEvent = sessionAggregate.codec.decode({
        ...stored,
        metadata: { ...stored.metadata, time },
      });
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
  const time = at(1, requestMsMax).toISOString();
  const late = sessionAggregate.codec.decode({ ...stored, metadata: { ...stored.metadata, time } });
  const later = sessionAggregate.decider.evolve(state, late);
  t.deepEqual(sessionAggregate.decider.decide(refresh(1, at(1)), later), []);
  return undefined;
});

test('A token that a clock far ahead has replaced ends the session once that clock is right', (t) => {
  const { state } = given(sessionAggregate, sessionStarted, rotatedTo(2));
  const [stored] = recordEvents(sessionAggregate, 'example', [rotatedTo(3)]);
  if (stored === undefined) return t.fail();
  const time = at(1, requestMsMax + 1).toISOString();
  const ahead = sessionAggregate.codec.decode({ ...stored, metadata: { ...stored.metadata, time } });
  const later = sessionAggregate.decider.evolve(state, ahead);
  t.deepEqual(sessionAggregate.decider.decide(refresh(1, at(1)), later), ends(1));
  return undefined;
});

const skipping = { ...refresh(2, at(1)), successor: refresh(3, at(1)).successor };

testDecisions(sessionAggregate, {
  'A token of a future generation or with another digest does not belong to the session': [
    [[sessionStarted, rotatedTo(2)], refresh(3, at(1)), 'refresh_token_unknown'],
    [[sessionStarted, rotatedTo(2)], refresh(2, at(1), tokenDigest(9)), 'refresh_token_unknown'],
    [[sessionStarted, rotatedTo(2)], skipping, 'refresh_token_unknown'],
  ],
});

test('A replaced token with another digest ends the session at once', (t) => {
  t.deepEqual(decide([sessionStarted, rotatedTo(2)], refresh(1, at(1), tokenDigest(9))), ends(1));
});

testDecisions(sessionAggregate, {
  'A revoked session refuses every refresh': [
    [[sessionStarted, rotatedTo(2), sessionRevoked], refresh(2, at(2)), 'session_over'],
    [[sessionStarted, rotatedTo(2), sessionRevoked], refresh(1, at(2)), 'session_over'],
  ],
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
    .when(strengthen(2, at(0)))
    .then(t, strengthened(2));
  const { state } = given(sessionAggregate, sessionStarted, strengthened(2));
  t.like(state, { status: 'started', amr: ['pwd', 'otp'], refresh: { refresh_generation: 2, link } });
  // The command did not present the predecessor, but the predecessor may be within its grace.
  t.deepEqual(decide([sessionStarted, strengthened(2)], refresh(1, at(1, refreshGraceMs))), []);
  t.deepEqual(decide([sessionStarted, strengthened(2)], refresh(1, at(1, refreshGraceMs + 1))), ends(1));
  // and so may the one before it, although its successor was never used.
  const twice = [sessionStarted, rotatedTo(2), strengthened(3)];
  t.deepEqual(decide(twice, refresh(1, at(2, refreshGraceMs))), []);
  t.deepEqual(decide(twice, refresh(1, at(2, refreshGraceMs + 1))), ends(1));
});

testDecisions(sessionAggregate, {
  'Strengthening after a concurrent refresh is refused, so that it is decided again': [
    [[sessionStarted, rotatedTo(2)], strengthen(2, at(1)), 'refresh_token_superseded'],
  ],
  'An ended session is not strengthened': [
    [[sessionStarted, sessionRevoked], strengthen(2, at(1)), 'session_over'],
  ],
});
