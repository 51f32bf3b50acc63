import test from 'ava';
import {
  checkCapacityGrants,
  checkEntitlementGrants,
  fulfilOrders,
} from '../../../../src/areas/payments/commands/buying/fulfilling.js';
import { exploreInterleavings } from '../../../support/simulation/model/explore-interleavings.js';
import { fulfilmentModel, fulfilmentStories } from '../../../support/simulation/model/fulfilment-model.js';

const never = {
  isOwed: () => Promise.resolve(false),
  isUnderWay: () => false,
  fulfil: () => Promise.resolve(),
};
const ofFacts = fulfilOrders(never).types;
const ofGrants = checkCapacityGrants(never).types;
const ofEntitlements = checkEntitlementGrants(never).types;
const reports = fulfilmentStories['paid and refunded'] ?? [];

test('The model finds the grant of a refunded order when no reaction follows the grants', (t) => {
  const model = fulfilmentModel({ reports, crashes: 1, followed: [ofFacts] });
  const { problem } = exploreInterleavings(model, { statesMax: 20_000 });
  t.is(problem?.text, 'the grant is held and not due');
  t.deepEqual(problem?.actions.slice(-2), ['process 1 appends: grant', 'process 1 crashes']);
});

// `test/deep` explores all stories with crashes.
test('The grant agrees with the facts after every interleaving of two processes and a refund', (t) => {
  const model = fulfilmentModel({ reports, crashes: 0, followed: [ofFacts, ofGrants] });
  const { problem, ends } = exploreInterleavings(model, { statesMax: 20_000 });
  t.is(problem, null);
  t.true(ends > 5);
});

test('Each event that gives or takes the grant of an order is an event that a reaction follows', (t) => {
  t.deepEqual(ofGrants, ['CapacityGranted', 'CapacityRevoked']);
  t.deepEqual(ofEntitlements, ['EntitlementGranted', 'EntitlementRevoked']);
});
