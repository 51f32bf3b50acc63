import test from 'ava';
import { scopeParts } from '../../src/keys/sealing/envelope.js';
import { makeNeededDataKeys } from '../../src/operating/backup/needed-data-keys.js';
import { codecs, everyEvent } from '../support/examples/every-event.js';
import { orderId as id, projectId, testId } from '../support/examples/ids.js';
import { recordEvents } from '../support/given/given-events.js';

/** The data keys that the example of each event is the first to need. The examples of the other events need none. */
const needed: Readonly<Record<string, readonly string[]>> = {
  UserRegistered: ['person', id],
  MemberInvited: ['invitation', id, testId],
  ShareCreated: ['share', projectId, id],
  ShareMailRequested: ['share-mail', projectId, id],
  StorageCreated: ['storage-credentials', projectId, id, '1'],
  StorageCredentialsReplaced: ['storage-credentials', projectId, id, '2'],
  StorageDeliveryChanged: ['storage-credentials', projectId, id, '3'],
  StorageTestStarted: ['storage-credentials', projectId, id, '2'],
};

/** Records events with the id of one stream. */
function recorded(category: keyof typeof everyEvent, events: Readonly<Record<string, unknown>>) {
  const made = Object.entries(events).map(([type, data]) => ({ type, data }));
  return recordEvents({ category, codec: codecs[category] }, id, made);
}

test('The data keys that the log needs are those of the persons, invitations, shares, mails and credentials in it', (t) => {
  const found: Record<string, readonly string[]> = {};
  for (const category of Object.keys(everyEvent) as (keyof typeof everyEvent)[]) {
    const neededBy = makeNeededDataKeys();
    for (const event of recorded(category, everyEvent[category])) {
      const [scope, ...others] = neededBy(event);
      if (scope !== undefined) found[event.type] = scopeParts(scope);
      t.deepEqual(others, []);
    }
  }
  t.deepEqual(found, needed);
});

test('The first mail of a request needs its data key, and the others need no other', (t) => {
  const { ShareMailRequested: first } = everyEvent.sharemail;
  const needs = [0, 1, 2].map((number) => {
    const [mail] = recorded('sharemail', { ShareMailRequested: { ...first, number } });
    return mail === undefined ? [] : makeNeededDataKeys()(mail);
  });
  t.deepEqual(
    needs.map((scopes) => scopes.length),
    [1, 0, 0],
  );
});

test('A note on a payment needs a separate data key only where no person has one for it', (t) => {
  const { order, checkout, transaction } = everyEvent;
  const report = { ...transaction.PaymentReported, key: 'by-hand' };
  const { note, note_digest } = order.ReviewResolved;
  const needs = (note_of: string | null) => {
    const sealed = { note, note_of, note_digest };
    const events = [
      ...recorded('order', { ReviewResolved: { ...order.ReviewResolved, note_of } }),
      ...recorded('checkout', { RefundAsked: { ...checkout.RefundAsked, note_of } }),
      ...recorded('transaction', { PaymentReported: { ...report, recorded: sealed } }),
      ...recorded('transaction', {
        PaymentReportResolved: { ...transaction.PaymentReportResolved, note_of },
      }),
    ];
    return events.flatMap(makeNeededDataKeys()).map(scopeParts);
  };
  t.deepEqual(needs(testId), []);
  const payments = [order.ReviewResolved.callback, checkout.RefundAsked.refund, 'by-hand', `${id}@0`];
  t.deepEqual(
    needs(null),
    payments.map((payment) => ['payment-note', payment]),
  );
});
