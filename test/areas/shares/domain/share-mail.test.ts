import test from 'ava';
import type { ShareMailEvent } from '../../../../src/areas/shares/domain/share-mail/events.js';
import { allMailed, shareMailAggregate } from '../../../../src/areas/shares/domain/share-mail/share-mail.js';
import { projectId, shareId, userId } from '../../../support/examples/ids.js';
import { sealedExample } from '../../../support/examples/sealed.js';
import { testDecisions } from '../../../support/given/decisions.js';
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

testDecisions(shareMailAggregate, {
  'A request asks for one mail for each address, and a repetition asks for nothing': [
    [[], request, both],
    [both, { ...request, to: [sealedExample('again')] }, []],
  ],
  'The outcome of each mail is recorded once, and only of a requested one': [
    [both, mark(1), [mailed(1)]],
    [[...both, mailed(1)], mark(1), []],
    [[...both, mailed(1)], mark(0), [mailed(0)]],
    [both, mark(2), []],
    [[], mark(0), []],
  ],
});

test('A request is done when each of its mails has an outcome', (t) => {
  const isDone = (...events: readonly ShareMailEvent[]) =>
    allMailed(given(shareMailAggregate, ...events).state);
  t.deepEqual(
    [isDone(), isDone(...both), isDone(...both, mailed(0)), isDone(...both, mailed(1), mailed(0))],
    [false, false, false, true],
  );
});
