import test from 'ava';
import { exploreInterleavings } from '../support/simulation/model/explore-interleavings.js';
import { reportModel, type SentReport } from '../support/simulation/model/report-model.js';

/*
 * Explores every interleaving of three reports of a transaction, two processes, an operator and two crashes. The result is a
 * proof for these stories, so there is no seed and no budget.
 */
const stories: readonly (readonly SentReport[])[] = [
  ['A', null, null],
  ['A', 'B', null],
  ['A', 'A', null],
];

for (const reports of stories) {
  const named = reports.map((order) => order ?? 'none').join(', ');
  test.serial(
    `Orders know all reports that name ${named}, with two processes, two crashes and the operator`,
    (t) => {
      t.timeout(10 * 60_000);
      const model = reportModel({ reports, crashes: 2, operator: true });
      const { problem, ends, states } = exploreInterleavings(model, { statesMax: 2_000_000 });
      t.log(`${states} states, ${ends} ends`);
      t.is(problem, null);
      t.true(ends > 1);
    },
  );
}
