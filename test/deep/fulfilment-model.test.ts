import test from 'ava';
import { checkCapacityGrants, fulfilOrders } from '../../src/areas/payments/commands/buying/fulfilling.js';
import { exploreInterleavings } from '../support/simulation/model/explore-interleavings.js';
import { fulfilmentModel, fulfilmentStories } from '../support/simulation/model/fulfilment-model.js';

/*
 * Explores every interleaving of the reports of a story, two processes, the operator and two crashes. The result is a
 * proof for these stories, so there is no seed and no budget.
 */

const never = {
  isOwed: () => Promise.resolve(false),
  isUnderWay: () => false,
  fulfil: () => Promise.resolve(),
};
const ofFacts = fulfilOrders(never).types;
const ofGrants = checkCapacityGrants(never).types;

test('The model finds the missing grant of a dispute that is won when no reaction follows the grants', (t) => {
  const reports = fulfilmentStories['paid, lost in a dispute and won'] ?? [];
  const model = fulfilmentModel({ reports, crashes: 1, followed: [ofFacts] });
  t.is(exploreInterleavings(model, { statesMax: 20_000 }).problem?.text, 'the grant is due and not held');
});

for (const [story, reports] of Object.entries(fulfilmentStories)) {
  // With a checkpoint for each reaction, three reports and a crash make more than 2,500,000 states. So a process serves facts
  // and grants in the order of the log then.
  const followed = reports.length > 2 ? [[...ofFacts, ...ofGrants]] : [ofFacts, ofGrants];
  test.serial(`The grant agrees with the facts after every interleaving with two crashes: ${story}`, (t) => {
    t.timeout(10 * 60_000);
    const model = fulfilmentModel({ reports, crashes: 2, followed });
    const { problem, ends, states } = exploreInterleavings(model, { statesMax: 2_000_000 });
    t.log(`${states} states, ${ends} ends`);
    t.is(problem, null);
    t.true(ends > 10);
  });
}
