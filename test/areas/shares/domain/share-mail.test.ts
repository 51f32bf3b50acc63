import test from 'ava';
import type { ShareMailEvent } from '../../../../src/areas/shares/domain/share-mail/events.js';
import { allMailed, shareMailAggregate } from '../../../../src/areas/shares/domain/share-mail/share-mail.js';
import { projectId, shareId, userId } from '../../../support/examples/ids.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { given } from '../../../support/given/given.js';

const [ada, bob] = [sealedExample('ada@example.com'), sealedExample('bob@example.com')];
const request = {
  type: 'Request',
  projectId,
  shareId,
  sentBy: userId,
  to: [ada, bob],
  message: null,
} as const;
const requested = (number: number, to: typeof ada): ShareMailEvent => ({
  type: 'ShareMailRequested',
  data: { project_id: projectId, share_id: shareId, number, to, message: null, sent_by: userId },
});
const both = [requested(0, ada), requested(1, bob)] as const;
const mailed = (number: number): ShareMailEvent => ({
  type: 'ShareMailed',
  data: { number, outcome: 'accepted' },
});
const mark = (number: number) => ({ type: 'MarkMailed', number, outcome: 'accepted' }) as const;

test('A request asks for one mail for each address, and a repetition asks for nothing', (t) => {
  given(shareMailAggregate)
    .when(request)
    .then(t, ...both);
  given(shareMailAggregate, ...both)
    .when({ ...request, to: [sealedExample('again')] })
    .then(t);
});

test('The outcome of each mail is recorded once, and only of a requested one', (t) => {
  given(shareMailAggregate, ...both)
    .when(mark(1))
    .then(t, mailed(1));
  given(shareMailAggregate, ...both, mailed(1))
    .when(mark(1))
    .then(t);
  given(shareMailAggregate, ...both, mailed(1))
    .when(mark(0))
    .then(t, mailed(0));
  given(shareMailAggregate, ...both)
    .when(mark(2))
    .then(t);
  given(shareMailAggregate).when(mark(0)).then(t);
});

test('A request is done when each of its mails has an outcome', (t) => {
  const isDone = (...events: readonly ShareMailEvent[]) =>
    allMailed(given(shareMailAggregate, ...events).state);
  t.deepEqual(
    [isDone(), isDone(...both), isDone(...both, mailed(0)), isDone(...both, mailed(1), mailed(0))],
    [false, false, false, true],
  );
});
