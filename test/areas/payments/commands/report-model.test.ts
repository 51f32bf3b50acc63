import test from 'ava';
import { exploreInterleavings } from '../../../support/simulation/model/explore-interleavings.js';
import { reportModel } from '../../../support/simulation/model/report-model.js';

/** A payment that names its order and a refund that names none: the one links, the other may come first. */
const paidAndRefunded = ['A', null] as const;

test('Orders know all reports after every interleaving of a payment, a refund, two processes and a crash', (t) => {
  const model = reportModel({ reports: paidAndRefunded, crashes: 1, operator: false });
  const { problem, ends } = exploreInterleavings(model, { statesMax: 100_000 });
  t.is(problem, null);
  t.true(ends > 1);
});

test('A decision of the operator and a link that comes at the same moment leave one order', (t) => {
  const model = reportModel({ reports: [null, 'B'], crashes: 0, operator: true });
  const { problem, ends } = exploreInterleavings(model, { statesMax: 100_000 });
  t.is(problem, null);
  t.true(ends > 1);
});

test('The model finds the refund that is lost when a reaction tells only its own report', (t) => {
  const model = reportModel({ reports: paidAndRefunded, crashes: 1, operator: false, carriesOver: false });
  const { problem } = exploreInterleavings(model, { statesMax: 100_000 });
  t.is(problem?.text, 'no order knows A/1/fact');
  t.true(problem?.actions.some((action) => action.endsWith('crashes')));
});

test('The model finds two orders of one transaction when a report is appended at any revision', (t) => {
  const model = reportModel({ reports: ['A', 'B'], crashes: 0, operator: false, atExactRevision: false });
  const { problem } = exploreInterleavings(model, { statesMax: 100_000 });
  t.regex(problem?.text ?? '', /^an order knows [AB]\/[01]\/fact$/);
});
