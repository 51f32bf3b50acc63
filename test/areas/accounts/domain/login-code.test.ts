import test from 'ava';
import type { Requester } from '../../../../src/validation/fields.js';
import type { LoginCodeEvent } from '../../../../src/areas/accounts/domain/login-code/events.js';
import {
  isIssueOpen,
  loginCodeAggregate,
} from '../../../../src/areas/accounts/domain/login-code/login-code.js';
import {
  attemptFailed,
  issue_id,
  laterIssueId,
  loginCodeIssued,
  loginCodeUsed,
  loginCodeWithheld,
} from '../../../support/examples/login-code.js';
import { userId } from '../../../support/examples/ids.js';
import { recordedAt } from '../../../support/given/given-events.js';
import { testDecisions } from '../../../support/given/decisions.js';
import { given } from '../../../support/given/given.js';

const issued = loginCodeIssued(issue_id);

const issue = (id: string, now: Date, requester: Requester = 'unknown') =>
  ({
    type: 'Issue',
    requester,
    issue_id: id,
    user_id: userId,
    email: issued.data.email,
    code_key_id: issued.data.code_key_id,
    expires_at: issued.data.expires_at,
    now,
  }) as const;
const use = (matches: boolean, now = recordedAt(0), id = issue_id, requester: Requester = 'unknown') =>
  ({ type: 'Use', requester, compared: [{ issue_id: id, matches }], now }) as const;

const decide = (
  events: readonly LoginCodeEvent[],
  command: ReturnType<typeof use> | ReturnType<typeof issue>,
) => loginCodeAggregate.decider.decide(command, given(loginCodeAggregate, ...events).state);

testDecisions(loginCodeAggregate, {
  'A command issues one code': [[[], issue(issue_id, recordedAt(0)), [issued]]],
});

test('An address gets one code a minute, to the millisecond, and an earlier request changes nothing', (t) => {
  const again = loginCodeIssued(laterIssueId);
  t.deepEqual(decide([issued], issue(laterIssueId, recordedAt(0, 59_999))), []);
  t.deepEqual(decide([issued], issue(laterIssueId, recordedAt(0, 60_000))), [again]);
});

test('A request for an address without an account counts at the limits, and leaves an earlier code as it is', (t) => {
  const withhold = (now: Date) => ({ type: 'Withhold', requester: 'unknown', now }) as const;
  given(loginCodeAggregate)
    .when(withhold(recordedAt(0)))
    .then(t, loginCodeWithheld);
  given(loginCodeAggregate, loginCodeWithheld)
    .when(withhold(recordedAt(0, 59_999)))
    .thenNothing(t);
  t.deepEqual(decide([loginCodeWithheld], issue(issue_id, recordedAt(0, 59_999))), []);
  t.deepEqual(decide([loginCodeWithheld], issue(issue_id, recordedAt(0, 60_000))), [issued]);
  t.is(given(loginCodeAggregate, issued, loginCodeWithheld).state.unknown.issue?.issue_id, issue_id);
});

test('An address gets six codes an hour', (t) => {
  const ids = Array.from({ length: 6 }, (_, index) => issue_id.replace(/..$/, `7${index}`));
  // The store records them a second apart.
  const six = ids.map((id) => loginCodeIssued(id));
  t.deepEqual(decide(six, issue(laterIssueId, recordedAt(0, 3_599_999))), []);
  t.is(decide(six, issue(laterIssueId, recordedAt(0, 3_600_000))).length, 1);
  t.is(decide(six.slice(1), issue(laterIssueId, recordedAt(5, 60_000))).length, 1);
  // The state drops the first of seven codes, and the other six still count.
  const seven = [...six, loginCodeIssued(laterIssueId)];
  t.deepEqual(decide(seven, issue(issue_id.replace(/..$/, '88'), recordedAt(1, 3_599_999))), []);
});

test('The right code is refused after five wrong ones', (t) => {
  const failures = (count: number) => Array.from({ length: count }, () => attemptFailed);
  t.deepEqual(decide([issued, ...failures(4)], use(false)), [attemptFailed]);
  t.deepEqual(decide([issued, ...failures(4)], use(true)), [loginCodeUsed]);
  const spent = given(loginCodeAggregate, issued, ...failures(5));
  spent.when(use(true)).thenRejected(t, 'login_code_refused');
  spent.when(use(false)).thenRejected(t, 'login_code_refused');
});

test('Only the newest code counts', (t) => {
  const world = given(loginCodeAggregate, issued, loginCodeIssued(laterIssueId));
  world.when(use(true)).thenRejected(t, 'login_code_refused');
  t.is(decide([issued, loginCodeIssued(laterIssueId)], use(true, recordedAt(1), laterIssueId)).length, 1);
  // The failures of the older code do not count against the newer one.
  const failed = [issued, ...Array.from({ length: 5 }, () => attemptFailed), loginCodeIssued(laterIssueId)];
  t.is(decide(failed, use(true, recordedAt(6), laterIssueId)).length, 1);
  const { state } = given(loginCodeAggregate, ...failed, attemptFailed, loginCodeUsed);
  t.true(
    state.unknown.issue !== null && isIssueOpen(state.unknown.issue, 'unknown', recordedAt(6)),
    'the events of the older code do not change the newer one',
  );
});

const mark = { type: 'MarkMailed', issue_id, outcome: 'accepted' } as const;
const mailed: LoginCodeEvent = {
  type: 'LoginCodeMailed',
  data: { issue_id, outcome: 'accepted' },
};

testDecisions(loginCodeAggregate, {
  'The outcome of the mail is recorded once, and only for the newest code': [
    [[issued], mark, [mailed]],
    [[issued, mailed], mark, []],
    [[issued, mailed], { ...mark, outcome: 'refused' }, []],
    [[issued, loginCodeIssued(laterIssueId)], mark, []],
  ],
});
