// Writes the folder of this release: `npm run upgrades:write`. Ids and keys differ each time; story and times are the same.
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, parseStreamName } from '../../src/event-sourcing/ports/domain-event.js';
import { readWholeLog } from '../support/audit/audit-scene.js';
import { eventually } from '../support/eventually.js';
import { everyEvent } from '../support/examples/every-event.js';
import { viewsAtHead } from '../support/given/backups.js';
import { makeDataDirectory } from '../support/servers/service-process.js';
import type { ServiceInProcess } from '../support/servers/service-in-process.js';
import {
  folderOf,
  openRecorded,
  readAs,
  release,
  type RecordedReply,
  storyEndsAt,
} from './recorded-service.js';
import { openStory } from './open-story.js';
import type { Told } from './story.js';

const folder = folderOf(release);
const work = await makeDataDirectory();
const { service, tell, time, end } = await openStory(work.path);
const told = await tell();
await settled(service);
if (time.nowMs > storyEndsAt) throw new Error('the story takes longer than its end says');
time.nowMs = storyEndsAt;
const before = await repliesOf(service);
await service.close();

// What a second start serves otherwise is no resource: an age, or a figure of the process.
const again = await openRecorded(work.path, { now: () => time.nowMs });
const after = await repliesOf(again);
const replies = before.filter((reply, index) => isDeepStrictEqual(reply, after[index]));
for (const { as, path } of before.filter((reply) => !replies.includes(reply)))
  console.log(`left out, because it changes: ${path} as ${as}`);
const { vkeys } = (await readAs(again.url, '/audit/status', told.readers['bob'] ?? {})) as {
  vkeys: readonly string[];
};
const events = await readWholeLog(again.services.eventStore);
const records = await again.services.stores.stateStore.list('', { limit: 10_000 });
await again.close();

const categories = new Set(events.map(({ stream }) => parseStreamName(stream)?.category));
const missing = Object.keys(everyEvent).filter((name) => name !== 'audit' && !categories.has(name));
if (missing.length > 0) throw new Error(`the story has no ${missing.join(', ')}`);

rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, 'embedded'), { recursive: true });
for (const { name } of readdirSync(work.path, { withFileTypes: true }).filter((entry) => entry.isFile()))
  if (!/^lock\.db|-(wal|shm)$/.test(name))
    copyFileSync(join(work.path, name), join(folder, 'embedded', name));
writeFileSync(join(folder, 'log.vkey'), `${vkeys.join('\n')}\n`);
write('replies.jsonl', replies);
write('readers.jsonl', Object.entries(told.readers));
write(
  'log.jsonl',
  events.map(({ position: _, revision, ...event }) => ({ ...event, revision: Number(revision) })),
);
write(
  'records.jsonl',
  records.map(({ version: _, ...record }) => record),
);
write(
  'examples.jsonl',
  Object.entries(everyEvent).flatMap(([category, types]) =>
    Object.entries(types as Readonly<Record<string, JsonObject>>).map(([type, data]) => ({
      category,
      type,
      data,
    })),
  ),
);
await end();
await work.remove();
console.log(`${folder}: ${events.length} events, ${replies.length} replies, ${records.length} records`);
// The fakes keep sockets of clients open.
process.exit(0);

function write(name: string, lines: readonly unknown[]): void {
  writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** Waits until no reaction appends any more and the audit log has signed everything. */
async function settled({ services, ...running }: ServiceInProcess): Promise<void> {
  let [head, since] = [await services.eventStore.head(), performance.now()];
  await eventually('the log rests', async () => {
    const found = await services.eventStore.head();
    if (found !== head) [head, since] = [found, performance.now()];
    const { log, signed } = services.audit.log.status();
    return performance.now() - since > 3_000 && log !== null && log.size === signed?.size;
  });
  await viewsAtHead({ services, ...running });
}

/** Reads every path that the service serves of the story, as every reader. */
async function repliesOf({ url, routes }: ServiceInProcess): Promise<readonly RecordedReply[]> {
  const paths = routes
    // The status of a process is no resource.
    .filter(({ path }) => path !== '/audit/status')
    .filter(({ method, path }) => method === 'GET' && /^\/(api\/v1\/.|audit\/|\.well-known\/)/.test(path))
    .flatMap(({ path }) => expanded(path, told.params));
  const found: RecordedReply[] = [];
  for (const path of paths) {
    for (const [as, headers] of Object.entries(told.readers)) {
      const body = await readAs(url, path, headers);
      const isNew = !found.some((reply) => reply.path === path && isDeepStrictEqual(reply.body, body));
      if (body !== null && isNew) found.push({ as, path, body });
    }
  }
  return found;
}

/** Returns the paths of a pattern; none where a parameter has no value in the story. */
function expanded(path: string, params: Told['params']): readonly string[] {
  const [whole, name] = /:(\w+)/.exec(path) ?? [];
  if (whole === undefined || name === undefined) return [path];
  return (params[name] ?? []).flatMap((value) => expanded(path.replace(whole, value), params));
}
