import test from 'ava';
import {
  makePicture,
  type Member,
  type PartProgress,
} from '../../src/event-sourcing/feeding/sharing/picture.js';
import { reportStatus, sharedParts } from '../../src/observing/parts.js';

const other: Member = {
  ...{ id: 'other', parts: ['view/users@1', 'reaction/mail', 'task/node-prober'], goal: null },
  ...{ feeds: ['reaction/mail', 'task/node-prober'], lagsMs: { 'reaction/mail': 4_200 } },
};

/** A process that feeds the view, beside another one that feeds the rest. */
function givenPicture(progress: Partial<PartProgress> = {}) {
  const picture = makePicture('self');
  picture.declare(['view/users@1', 'reaction/mail']);
  picture.feeding('view/users@1', true);
  picture.reports('view/users@1', () => ({ state: 'running', lagMs: 1_500, problem: null, ...progress }));
  picture.reports('reaction/mail', () => ({ state: null, lagMs: 0, problem: null }));
  picture.see([other]);
  return picture;
}

test('The status names each part with its state, its lag, and the process that feeds it', (t) => {
  const picture = givenPicture();
  t.deepEqual(sharedParts(picture, []), [
    {
      ...{ kind: 'view', name: 'users@1', state: 'running', lag_seconds: 1.5 },
      ...{ fed_by: ['self'], problem: null },
    },
    {
      ...{ kind: 'reaction', name: 'mail', state: 'running', lag_seconds: 4.2 },
      ...{ fed_by: ['other'], problem: null },
    },
    {
      ...{ kind: 'task', name: 'node-prober', state: 'running', lag_seconds: 0 },
      ...{ fed_by: ['other'], problem: null },
    },
  ]);
  t.deepEqual(picture.self().lagsMs, { 'view/users@1': 1_500 }, 'the others learn the lag');
});

test('The status tells a part that has stopped from one that another process feeds, and from one that none feeds', (t) => {
  const stopped = givenPicture({ state: 'stopped', problem: 'the event X cannot be read' });
  stopped.feeding('view/users@1', false);
  stopped.withdraw('view/users@1');
  const view = () => sharedParts(stopped, [])[0];
  t.like(view(), { state: 'stopped', problem: 'the event X cannot be read', fed_by: [] });
  const [unfed] = sharedParts(stopped, [{ part: 'view/users@1', forMs: 16_000 }]);
  t.like(unfed, { state: 'stopped', problem: 'the event X cannot be read' });
  stopped.see([{ ...other, feeds: ['view/users@1'] }]);
  t.like(view(), { state: 'running', problem: 'the event X cannot be read', fed_by: ['other'] });
  const silent = givenPicture();
  silent.see([{ ...other, feeds: [] }]);
  const reaction = (unfed: Parameters<typeof sharedParts>[1]) => sharedParts(silent, unfed)[1];
  t.like(reaction([]), { name: 'mail', state: 'unfed', lag_seconds: null });
  t.like(reaction([{ part: 'reaction/mail', forMs: 16_000 }]), { state: 'unfed', lag_seconds: 16 });
});

test('The status names the stores before they are open, and for how long one has not answered', (t) => {
  const status = reportStatus({
    stores: () => [
      { name: 'the log', awayMs: null, hasAnswered: true, failure: null },
      { name: 'MongoDB at a:1', awayMs: 61_000, hasAnswered: true, failure: 'no answer in time' },
      { name: 'the state', awayMs: null, hasAnswered: false, failure: null },
    ],
    readiness: { ready: () => ({ ok: false, reasons: ['MongoDB at a:1 does not answer'] }) },
    version: '1.2.3',
    members: () => null,
    unfed: () => [],
  });
  t.like(status, { ready: false, process: null, version: '1.2.3' });
  t.deepEqual(
    status.parts.map(({ name, state, lag_seconds: lag, problem }) => [name, state, lag, problem]),
    [
      ['the log', 'answers', 0, null],
      ['MongoDB at a:1', 'away', 61, 'no answer in time'],
      ['the state', 'unknown', 0, null],
    ],
  );
});
