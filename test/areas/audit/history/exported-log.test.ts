import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openExportedLog } from '../../../../src/areas/audit/history/exported-log.js';
import { ReplayProblem } from '../../../../src/areas/audit/tree/log-until.js';
import type { StoredEvent } from '../../../../src/event-sourcing/ports/domain-event.js';
import { tilePath } from '../../../../src/areas/audit/tree/tiles.js';
import {
  auditOrigin,
  exportFilesOf,
  givenAuditEvents,
  writeExport,
} from '../../../support/audit/audit-export.js';
import { exportedOf } from '../../../support/audit/exported-event.js';
import { makeSeededRandom } from '../../../support/fakes/clock.js';

function givenFolder(t: ExecutionContext, size: number) {
  const events = givenAuditEvents(makeSeededRandom(size), size);
  const folder = mkdtempSync(join(tmpdir(), 'stowage-export-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const files = exportFilesOf(events);
  const restore = (): void => writeExport(folder, files);
  restore();
  const path = (kind: 'events' | 'tile', index: number) =>
    tilePath({ kind, level: 0, index, width: Math.min(256, size - index * 256) });
  const change = (name: string, to: (bytes: Buffer) => Buffer | string): void => {
    writeFileSync(join(folder, name), to(readFileSync(join(folder, name))));
  };
  return { events, folder, restore, path, change };
}

async function readAll(folder: string): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const part of (await openExportedLog(folder)).parts()) events.push(...part.events);
  return events;
}

for (const size of [1, 256, 700]) {
  test(`An export of ${size} events is read as the events that were exported`, async (t) => {
    const { events, folder } = givenFolder(t, size);
    t.deepEqual((await readAll(folder)).map(exportedOf), events);
    t.like(await openExportedLog(folder), { origin: auditOrigin, size });
  });
}

test('Any change of a line, also one that leaves its values, is found with its event', async (t) => {
  const { folder, restore, path, change } = givenFolder(t, 600);
  for (const [index, to] of [
    [9, (line: string) => line.replace('"revision":', '"revision":1')],
    [300, (line: string) => line.replace('{', '{ ')],
    [301, (line: string) => line.replace('"type":', '"type":"x","type":')],
    [511, () => '{"index":511}'],
    [512, () => 'null'],
    [513, () => '['.repeat(50_000)],
    [514, (line: string) => line.replace('"index":514', '"index":513')],
    [599, (line: string) => line.replace('"data":{', `"data":{"a":${'['.repeat(200)}${']'.repeat(200)},`)],
  ] as const) {
    change(path('events', Math.floor(index / 256)), (bytes) => {
      const lines = bytes.toString().split('\n');
      lines[index % 256] = to(lines[index % 256] ?? '');
      return lines.join('\n');
    });
    await t.throwsAsync(
      readAll(folder),
      {
        instanceOf: ReplayProblem,
        message: new RegExp(`^the event at index ${index} of the export is not the one`),
      },
      String(index),
    );
    restore();
  }
});

test('Two events that are exchanged, with their hashes, are not the log of the checkpoint', async (t) => {
  const { folder, path, change } = givenFolder(t, 300);
  change(path('tile', 0), (bytes) =>
    Buffer.concat([bytes.subarray(32, 64), bytes.subarray(0, 32), bytes.subarray(64)]),
  );
  await t.throwsAsync(openExportedLog(folder), {
    instanceOf: ReplayProblem,
    message: /^the tiles of .* are not those of its checkpoint/,
  });
});

test('Missing, short and foreign files of an export are named', async (t) => {
  const { folder, restore, path, change } = givenFolder(t, 300);
  for (const [name, to, message] of [
    [path('events', 1), (bytes: Buffer) => bytes.subarray(0, bytes.length - 5), /has not 44 whole lines$/],
    [path('events', 0), (bytes: Buffer) => `${bytes.toString()}\n`, /has not 256 whole lines$/],
    [path('tile', 1), (bytes: Buffer) => bytes.subarray(32), /has not 44 hashes$/],
    ['checkpoint', () => 'junk', /is no checkpoint of a log$/],
    [
      'checkpoint',
      (bytes: Buffer) => bytes.toString().replace('\n300\n', '\n3\n'),
      /000\.p\/3 cannot be read \(ENOENT\)/,
    ],
    ['checkpoint', () => Buffer.alloc(70_000), /it is too large, or no plain file$/],
  ] as const) {
    change(name, to);
    await t.throwsAsync(readAll(folder), { instanceOf: ReplayProblem, message }, name);
    restore();
  }
  await t.throwsAsync(openExportedLog(join(folder, 'events')), {
    instanceOf: ReplayProblem,
    message: /checkpoint cannot be read \(ENOENT\); name the folder of a whole export/,
  });
});
