import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pluck } from '../support/given/pluck.js';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { foldViews } from '../../projections/audit/fold-views.js';
import { wordsOf } from '../../projections/audit/words.js';
import { projections } from '../../projections/index.js';
import { ReplayProblem } from '../../src/areas/audit/tree/log-until.js';
import type { StreamReplay } from '../../src/operating/replay/replay-stream.js';
import type { LogEvent } from '../../src/event-sourcing/ports/domain-event.js';
import { StoreDamaged } from '../../src/event-sourcing/ports/errors.js';
import { exportFilesOf, writeExport } from '../support/audit/audit-export.js';
import { rootOfEvents } from '../support/audit/audit-scene.js';
import { exportedOf } from '../support/audit/exported-event.js';
import {
  fillService,
  openReplay,
  readSettled,
  replayEnvironment,
  replayFrom,
} from '../support/audit/replays.js';
import { makeDirectory, openStores } from '../support/servers/embedded-directory.js';
import { startInProcess } from '../support/servers/service-in-process.js';
import { runCli } from '../support/servers/service-process.js';

const parent = makeDirectory();
const data = join(parent.directory, 'data');
const opened = startInProcess({ directory: data, environment: replayEnvironment });
/** The log of the service, the documents of its views, and the stream of a renamed project. */
const live = opened.then(async (service) => {
  const project = await fillService(service);
  return { project, ...(await readSettled(service)) };
});
let folders = 0;
const newFolder = (): string => join(parent.directory, `replay-${(folders += 1)}`);

test.after.always(async () => {
  await (await opened).close();
  parent.remove();
});

async function opens(t: ExecutionContext, folder: string) {
  const replay = await openReplay(folder);
  t.teardown(() => replay.close());
  return replay;
}

/** What two logs have in common that hold the same events. */
const content = ({ position: _, ...event }: LogEvent) => event;

test('A replay to the head has the events and the views of the service that runs', async (t) => {
  const { events, documents } = await live;
  t.log(`${events.length} events, ${Object.keys(documents).length} documents`);
  const folder = newFolder();
  const made = await replayFrom(data, folder);
  const replay = await opens(t, folder);
  t.deepEqual((await replay.events()).map(content), events.map(content));
  t.deepEqual(await replay.documents(), documents);
  t.deepEqual(made, {
    folder,
    source: { kind: 'log', log_id: await (await opened).services.eventStore.logId() },
    events: events.length,
    until: events.at(-1)?.recordedAt.toISOString() ?? '',
    root: rootOfEvents(events).toString('base64'),
    quarantined: [],
  });
  // and it is another log
  t.not(await replay.eventStore.logId(), await (await opened).services.eventStore.logId());
});

test('A replay until an index or a time has the documents that the streams had then', async (t) => {
  const { events } = await live;
  for (const place of [0, 13, events.length - 1]) {
    const time = events[place]?.recordedAt ?? new Date(0);
    const later = events.findIndex(({ recordedAt }) => recordedAt > time);
    for (const [until, count] of [
      [{ index: place }, place + 1],
      [{ time }, later < 0 ? events.length : later],
    ] as const) {
      const folder = newFolder();
      const made = await replayFrom(data, folder, { until });
      const before = events.slice(0, count);
      t.is(made.events, count);
      t.is(made.root, rootOfEvents(before).toString('base64'));
      const replay = await opens(t, folder);
      const documents = await replay.documents();
      for (const stream of new Set(before.map((event) => event.stream))) {
        const ofStream = before.filter((event) => event.stream === stream);
        for (const [name, body] of Object.entries(foldViews(projections, stream, ofStream).views)) {
          const id = stream.slice(stream.indexOf('-') + 1);
          const document = documents[`${name}/${id}`];
          t.deepEqual(document, { revision: BigInt(ofStream.length - 1), body }, `${stream} at ${place}`);
        }
      }
    }
  }
});

test('A replay from an export is the same as one from the log, and names the checkpoint', async (t) => {
  const { events, documents } = await live;
  const folder = newFolder();
  const from = givenExport(events);
  const made = await replayFrom('/nowhere', folder, { from });
  const replay = await opens(t, folder);
  t.deepEqual((await replay.events()).map(content), events.map(content));
  t.deepEqual(await replay.documents(), documents);
  const root = rootOfEvents(events).toString('base64');
  t.like(made, { events: events.length, root, source: { kind: 'export', size: events.length, root } });
  const part = newFolder();
  t.is((await replayFrom('/nowhere', part, { from, until: { index: 11 } })).events, 12);
  t.deepEqual((await (await opens(t, part)).events()).map(content), events.slice(0, 12).map(content));
});

test('A replay refuses a folder with content, a file, a moment that the log does not have, and leaves nothing', async (t) => {
  const { events } = await live;
  const own = newFolder();
  const [taken, file, absent] = [join(own, 'taken'), join(own, 'file'), join(own, 'absent')];
  mkdirSync(taken, { recursive: true });
  writeFileSync(join(taken, 'holiday.txt'), '');
  writeFileSync(file, 'text');
  const refuses = (folder: string, options: Parameters<typeof replayFrom>[2], message: RegExp) =>
    t.throwsAsync(replayFrom(data, folder, options), { instanceOf: ReplayProblem, message });
  await refuses(taken, {}, /is not empty; name a folder that does not exist/);
  await refuses(file, {}, /is no folder/);
  const last = events.length - 1;
  await refuses(absent, { until: { index: events.length } }, new RegExp(`last index is ${last}; index`));
  await refuses(absent, { until: { time: new Date(0) } }, /no event was recorded until 1970/);
  t.false(existsSync(absent));
  t.deepEqual(readdirSync(taken), ['holiday.txt']);
  t.is(readFileSync(file, 'utf8'), 'text');
  t.deepEqual(readdirSync(own).toSorted(), ['file', 'taken']);
  // An empty folder is taken.
  mkdirSync(absent);
  t.is((await replayFrom(data, absent, { until: { index: 3 } })).events, 4);
});

test('A replay refuses an export with a changed event, and leaves nothing', async (t) => {
  const { events } = await live;
  const from = givenExport(events);
  const lines = join(from, 'events', `000.p/${events.length}`);
  writeFileSync(lines, readFileSync(lines, 'utf8').replace('"Film"', '"Flim"'));
  const changed = events.findIndex(({ data: { name } }) => name === 'Film');
  const own = newFolder();
  await t.throwsAsync(replayFrom('/nowhere', join(own, 'folder'), { from }), {
    instanceOf: ReplayProblem,
    message: new RegExp(
      `^the event at index ${changed} of the export is not the one that the checkpoint covers`,
    ),
  });
  t.deepEqual(readdirSync(own), []);
});

test('No service opens a replay, and a replay may be replayed again', async (t) => {
  await live;
  const folder = newFolder();
  await replayFrom(data, folder, { until: { index: 20 } });
  await t.throwsAsync(openStores(folder), { instanceOf: StoreDamaged, message: /holds a replay/ });
  const serving = await runCli(folder, ['serve']);
  t.is(serving.code, 1);
  t.regex(serving.stderr, /holds a replay \(replay\.json\), which is for reading/);
  t.false(existsSync(join(folder, 'keys.json')));
  const again = newFolder();
  t.is((await replayFrom(folder, again, { until: { index: 10 } })).events, 11);
});

test('The command shows the history of one stream in words, with its documents at the end', async (t) => {
  const { events, project } = await live;
  const indexes = [...events.entries()]
    .filter(([, event]) => event.stream === project)
    .map(([index]) => index);
  const renamed = indexes.at(-1) ?? 0;
  const show = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli(data, ['--json', 'audit', 'replay', '--resource', ...args]);
    t.is(code, 0, stderr);
    return JSON.parse(stdout) as StreamReplay;
  };
  const whole = await show(project);
  t.deepEqual(pluck(whole.events, 'index'), indexes);
  t.like(whole, { stream: project, index: events.length - 1, views: { projects: { name: 'Landing' } } });
  const event = events[renamed];
  t.deepEqual(whole.events.at(-1), {
    ...{ index: renamed, revision: indexes.length - 1, type: 'ProjectRenamed' },
    recorded_at: event?.recordedAt.toISOString() ?? '',
    actor: event?.metadata.actor ?? '',
    words: wordsOf(event as LogEvent),
  });
  const before = await show(project, '--until', String(renamed - 1));
  t.is(before.events.length, indexes.length - 1);
  t.like(before, { index: renamed - 1, views: { projects: { name: 'Film' } } });
  // Sealed values stay sealed, also in text
  const user = events.find(({ type }) => type === 'UserRegistered');
  const text = await runCli(data, [
    'audit',
    'replay',
    '--resource',
    user?.stream ?? '',
    '--from',
    givenExport(events),
  ]);
  t.is(text.code, 0, text.stderr);
  t.regex(text.stdout, /words: .* registered/);
  t.regex(text.stdout, /email: v1\./);
  t.notRegex(text.stdout, /example\.org/);
});

test('The command refuses an unknown stream and wrong usage, with its exit codes', async (t) => {
  const { project } = await live;
  const replay = (...args: string[]) => runCli(data, ['audit', 'replay', ...args]);
  for (const [args, code, message] of [
    [['--resource', 'project-none'], 1, /the log has no event of the stream "project-none" until then/],
    [['--resource', project, '--until', 'yesterday'], 2, /must be the index of an event, or a time/],
    [['--into', data], 1, /is not empty/],
    [[], 2, /name either --into <folder> or --resource <stream>/],
  ] as const) {
    const ended = await replay(...args);
    t.is(ended.code, code, ended.stderr);
    t.regex(ended.stderr, message);
    t.is(ended.stdout, '');
  }
  const elsewhere = await runCli(newFolder(), ['audit', 'replay', '--into', newFolder()]);
  t.is(elsewhere.code, 1);
  t.regex(
    elsewhere.stderr,
    /has no log; set DATA_DIR to the directory of a service, or name an export by --from/,
  );
});

function givenExport(events: readonly LogEvent[]): string {
  const folder = newFolder();
  writeExport(folder, exportFilesOf(events.map(exportedOf)));
  return folder;
}
