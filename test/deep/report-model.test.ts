import test from 'ava';
import { exploreInterleavings } from '../support/simulation/model/explore-interleavings.js';
import { reportModel, type SentReport } from '../support/simulation/model/report-model.js';

/*
 * Explores every interleaving of the reports of a transaction, two processes, and the operator or crashes. The result is a
 * proof for these stories, so there is no seed and no budget. Three reports with the operator and a crash together have
 * more states than fit into memory.
 */
const stories: readonly (readonly [reports: readonly SentReport[], crashes: number, operator: boolean])[] = [
  [['A', null], 2, true],
  [['A', null, null], 0, true],
  [['A', 'B', null], 0, true],
  [['A', null, null], 1, false],
  [['A', 'B', null], 1, false],
];

for (const [reports, crashes, operator] of stories) {
  const named = reports.map((order) => order ?? 'none').join(', ');
  const others = `${crashes} crashes ${operator ? 'and' : 'without'} the operator`;
  test.serial(`Orders know all reports that name ${named}, with ${others}`, (t) => {
    t.timeout(10 * 60_000);
    const model = reportModel({ reports, crashes, operator });
    const { problem, ends, states } = exploreInterleavings(model, { statesMax: 1_000_000 });
    t.log(`${states} states, ${ends} ends`);
    t.is(problem, null);
    t.true(ends > 1);
  });
}
