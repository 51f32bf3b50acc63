import test from 'ava';
import type { ShareEvent } from '../../../../src/areas/shares/domain/share/events.js';
import { applyEvent, newShare, remainingUses } from '../../../../src/areas/shares/domain/share/fold.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { createdTerms, freeTerms, shareCreated, shareUsed } from '../../../support/examples/share.js';

const created = newShare(shareCreated.data);
const passwordChanged: ShareEvent = {
  type: 'SharePasswordChanged',
  data: { password_hash: sealedExample('another hash'), password_class: 'short' },
};
const throttled: ShareEvent = { type: 'ShareVerificationThrottled', data: { failures: 30 } };

test('A new share has its terms, its first password and no use', (t) => {
  t.like(created, { ...createdTerms, password_generation: 1, uses: 0 });
  t.false('password_hash' in created);
});

test('A change of the terms replaces them and keeps the uses', (t) => {
  const changed = { ...freeTerms, allow_download: false };
  t.deepEqual(applyEvent({ ...created, uses: 1 }, { type: 'ShareChanged', data: changed }), changed);
});

test('Each password has the next generation', (t) => {
  const before = { ...created, password_generation: 7 };
  t.deepEqual(applyEvent(before, passwordChanged), { password_generation: 8 });
});

test('Each use counts, and a slowed check of passwords does not', (t) => {
  t.deepEqual(applyEvent({ ...created, uses: 4 }, shareUsed), { uses: 5 });
  t.deepEqual(applyEvent(created, throttled), {});
});

test('The remaining uses are the limit less the uses, and never negative', (t) => {
  t.is(remainingUses(created), 2);
  t.is(remainingUses({ ...created, uses: 2 }), 0);
  t.is(remainingUses({ ...created, uses: 3 }), 0);
  t.is(remainingUses({ ...created, max_uses: null, uses: 3 }), null);
});
