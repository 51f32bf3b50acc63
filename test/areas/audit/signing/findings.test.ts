import test from 'ava';

import {
  type Findings,
  findingsAfter,
  type Pass,
} from '../../../../src/areas/audit/signing/audit-records.js';

const [early, late] = ['2026-01-02T03:04:05.000Z', '2026-01-03T03:04:05.000Z'];
const sweep = { source: 'sweep', what: 'the event differs', size: 300, found_at: early };
const before: Findings = { origin: 'stowage/1', contradictions: [sweep], problem: 'an event has no leaf' };

type Given = Partial<Omit<Pass, 'checked'>> & {
  readonly checked?: readonly (readonly [string, string | null])[];
};

const cases: readonly (readonly [string, Given, Partial<Findings>])[] = [
  ['A check that has ended no pass keeps the finding of its last one', { checked: [['log', null]] }, {}],
  ['A check that passes has no finding', { checked: [['sweep', null]] }, { contradictions: [] }],
  [
    'A check that finds something else keeps the time of its first finding',
    { checked: [['sweep', 'a tile is lost']] },
    { contradictions: [{ ...sweep, what: 'a tile is lost', size: 400 }] },
  ],
  [
    'Each check that finds something has one finding, the oldest first',
    {
      checked: [
        ['record', 'the log is short'],
        ['sweep', sweep.what],
      ],
    },
    { contradictions: [sweep, { source: 'record', what: 'the log is short', size: 400, found_at: late }] },
  ],
  [
    'Another origin begins without findings',
    { origin: 'stowage/1/r1' },
    { origin: 'stowage/1/r1', contradictions: [] },
  ],
  ['A process that cannot tell the origin leaves the findings', { origin: null }, {}],
  ['The problem of the sequencing is that of the last pass', { problem: null }, { problem: null }],
];

for (const [title, { checked = [], ...pass }, after] of cases) {
  test(title, (t) => {
    const found = findingsAfter(before, {
      ...{ origin: before.origin, size: 400, at: new Date(late), problem: undefined, ...pass },
      checked: new Map(checked),
    });
    t.deepEqual(found, { ...before, ...after });
  });
}
