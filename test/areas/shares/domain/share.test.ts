import test from 'ava';
import { maxUsesMax, type ShareEvent } from '../../../../src/areas/shares/domain/share/events.js';
import { isProtected, noAccesses, shareAggregate } from '../../../../src/areas/shares/domain/share/share.js';
import { remainingUses } from '../../../../src/areas/shares/domain/share/fold.js';
import { grownSize } from '../../../../src/kit/lru.js';
import {
  accessId,
  assetId,
  otherAccessId,
  otherProjectId,
  projectId,
  testId,
} from '../../../support/examples/ids.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import {
  createdTerms,
  createShare,
  freeTerms,
  shareCreated,
  shareRevoked,
  shareUsed,
} from '../../../support/examples/share.js';
import { testDecisions } from '../../../support/given/decisions.js';
import { given } from '../../../support/given/given.js';

const now = new Date('2026-02-01T00:00:00.000Z');
const use = { type: 'Use', accessId, passwordGeneration: 1, now } as const;
const unlimited = { ...shareCreated, data: { ...shareCreated.data, max_uses: null, expires_at: null } };
const usedAgain: ShareEvent = { type: 'ShareUsed', data: { access_id: otherAccessId } };
const newPassword = {
  type: 'SharePasswordChanged',
  data: { password_hash: sealedExample('another hash'), password_class: 'short' },
} as const satisfies ShareEvent;

testDecisions(shareAggregate, {
  'A share is created once': [[[], createShare, [shareCreated]]],
  'A limited share counts each access once': [[[shareCreated], use, [shareUsed]]],
  'An unlimited share counts nothing': [[[unlimited], use, []]],
  'A share is used up after exactly its number of uses': [
    [[shareCreated, shareUsed], { ...use, accessId: otherAccessId }, [usedAgain]],
    [[shareCreated, shareUsed, usedAgain], { ...use, accessId: testId }, 'share_not_found'],

    // A repetition of a counted access is still that access.
    [[shareCreated, shareUsed, usedAgain], use, []],
  ],
});

test('A limit below the number of past uses leaves none', (t) => {
  const terms = { ...freeTerms, max_uses: 1 };
  const { state } = given(shareAggregate, shareCreated, shareUsed, usedAgain, {
    type: 'ShareChanged',
    data: terms,
  });
  t.is(state.status === 'open' ? remainingUses(state) : null, 0);
});

testDecisions(shareAggregate, {
  'A share opens until the millisecond before it expires': [
    [[shareCreated], { ...use, now: new Date('2026-02-28T23:59:59.999Z') }, [shareUsed]],
    [[shareCreated], { ...use, now: new Date('2026-03-01T00:00:00.000Z') }, 'share_not_found'],
  ],
});

test('A change keeps the terms that it leaves out, and a repeated change records nothing', (t) => {
  const changed: ShareEvent = { type: 'ShareChanged', data: { ...createdTerms, max_uses: 5 } };
  const share = given(shareAggregate, shareCreated);
  share.when({ type: 'Change', projectId, changes: { max_uses: 5 } }).then(t, changed);
  share.when({ type: 'Change', projectId, changes: { max_uses: 2, allow_download: true } }).thenNothing(t);
  share.when({ type: 'Change', projectId, changes: {} }).thenNothing(t);
  const { data: password } = newPassword;
  share.when({ type: 'Change', projectId, changes: { max_uses: 5 }, password }).then(t, changed, newPassword);
  given(shareAggregate).when({ type: 'Change', projectId, changes: {} }).thenRejected(t, 'share_not_found');
});

testDecisions(shareAggregate, {
  'A use that an earlier password allowed does not count': [
    [[shareCreated, newPassword], use, 'share_password_changed'],
    [[shareCreated, newPassword], { ...use, passwordGeneration: 2 }, [shareUsed]],
  ],
});

test('A revoked share does not open', (t) => {
  const revoke = { type: 'Revoke', projectId } as const;
  given(shareAggregate, shareCreated).when(revoke).thenEnds(t, 'share_not_found', shareRevoked);
  given(shareAggregate, shareCreated, shareRevoked).when(use).thenRejected(t, 'share_not_found');
});

testDecisions(shareAggregate, {
  'The service revokes an orphaned share, and a repetition decides nothing': [
    [[shareCreated], { type: 'RevokeOrphaned' }, [shareRevoked]],
  ],
});

test('A share names its assets in order, and one of a tag names none', (t) => {
  const asset_ids = [assetId, accessId];
  for (const shared of [
    { asset_ids, tag: null },
    { asset_ids: [], tag: 'press' },
  ]) {
    const share = { ...shareCreated.data, ...shared };
    const created: ShareEvent = { type: 'ShareCreated', data: share };
    given(shareAggregate).when({ type: 'Create', share }).then(t, created);
    t.like(given(shareAggregate, created).state, shared);
  }
});

test('The password of a share is removed once', (t) => {
  const password = { password_hash: null, password_class: 'short' } as const;
  const removal = { type: 'Change', projectId, changes: {}, password } as const;
  const removed: ShareEvent = { type: 'SharePasswordChanged', data: password };
  given(shareAggregate, shareCreated).when(removal).then(t, removed);
  const share = given(shareAggregate, shareCreated, removed);
  share.when(removal).thenNothing(t);
  t.false(share.state.status === 'open' && isProtected(share.state));
});

const ofAnother = { projectId: otherProjectId } as const;

testDecisions(shareAggregate, {
  'A share does not exist for another project': [
    [[shareCreated], { type: 'Change', ...ofAnother, changes: {} }, 'share_not_found'],
    [[shareCreated], { type: 'Revoke', ...ofAnother }, 'share_not_found'],
  ],
});

test('A throttled share is recorded at most once an hour', (t) => {
  const told: ShareEvent = { type: 'ShareVerificationThrottled', data: { failures: 30 } };
  const { state } = given(shareAggregate, shareCreated, told);
  const at = state.status === 'open' ? (state.throttled_at?.getTime() ?? 0) : 0;
  const tell = (afterMs: number) =>
    ({ type: 'RecordThrottled', failures: 31, now: new Date(at + afterMs) }) as const;
  given(shareAggregate, shareCreated, told).when(tell(3_599_999)).thenNothing(t);
  const again: ShareEvent = { type: 'ShareVerificationThrottled', data: { failures: 31 } };
  t.deepEqual(shareAggregate.decider.decide(tell(3_600_000), state), [again]);
  // The clock was a year ahead.
  t.deepEqual(shareAggregate.decider.decide(tell(-365 * 86_400_000), state), [again]);
});

test('A share with the maximum number of uses folds in less than 2 s and counts each use once', (t) => {
  const idOf = (index: number) => `019b7d00-0000-7000-8000-${String(index).padStart(12, '0')}`;
  const uses = Array.from({ length: maxUsesMax }, (_, index): ShareEvent => ({
    type: 'ShareUsed',
    data: { access_id: idOf(index) },
  }));
  const limited = { ...unlimited, data: { ...unlimited.data, max_uses: maxUsesMax } };
  const before = process.cpuUsage();
  const up = given(shareAggregate, limited, ...uses, ...uses.slice(0, 10));
  // The fold takes some 50 ms of processor time, which excludes other processes. With a copy per use it took 7 s.
  t.true(process.cpuUsage(before).user < 2_000_000);
  t.is(up.state.status === 'open' ? remainingUses(up.state) : null, 0);
  for (const index of [0, 127, 128, 129, 5_000, maxUsesMax - 1]) {
    up.when({ ...use, accessId: idOf(index) }).thenNothing(t);
  }
  up.when({ ...use, accessId: idOf(maxUsesMax) }).thenRejected(t, 'share_not_found');
});

test('The uses of a share count in the size of its fold, by which a cache is bounded', (t) => {
  const ids = Array.from(
    { length: 300 },
    (_, index) => `019b7d00-0000-7000-8000-${String(index).padStart(12, '0')}`,
  );
  const uses = ids.map((access_id): ShareEvent => ({ type: 'ShareUsed', data: { access_id } }));
  const { state } = given(shareAggregate, unlimited, ...uses);
  const grown = grownSize({ bytes: 1_000_000, measuredBytes: 0 }, 0, () => [state]);
  t.true(grown.measuredBytes > 300 * 36, `${grown.measuredBytes} bytes`);
});

test('A larger set of accesses leaves the smaller sets unchanged', (t) => {
  const versions = [noAccesses];
  for (let count = 0; count < 300; count += 1)
    versions.push((versions.at(-1) ?? noAccesses).with(`${count}`));
  for (const [size, version] of versions.entries()) {
    t.is(version.size, size);
    t.is(version.has(`${size - 1}`), size > 0);
    t.false(version.has(`${size}`));
  }
});
