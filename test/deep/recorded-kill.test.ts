import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { readWholeLog } from '../support/audit/audit-scene.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { viewsAtHead } from '../support/given/backups.js';
import { givenContext } from '../support/given/given-stores.js';
import { givenDirectory } from '../support/servers/service-process.js';
import { problemsOf } from '../upgrades/recorded-events.js';
import { openRecorded, problemsOfLog, readAs, signed, storyEndsAt } from '../upgrades/recorded-service.js';
import { givenAuditor } from '../upgrades/story.js';

/*
 * The story of the recorded data (docs/extending.md#stored-data) is killed while it is written. DEEP_SEED=<printed> repeats the
 * moments. DEEP_BUDGET multiplies the 20 kills.
 */
const seed = Number(process.env['DEEP_SEED'] ?? '20261127');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
/** About as many requests as the story makes. */
const requestsOfStory = 25;
const program = fileURLToPath(new URL('../upgrades/tell.js', import.meta.url));

test('Data of this release opens after a kill -9 at its writing, with every acknowledged event, and its audit log verifies', async (t) => {
  t.timeout(30 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  const random = makeSeededRandom(seed);
  const kills = Math.max(2, Math.round(20 * budget));
  let midway = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    // Given a directory whose writer is killed a moment after one of its requests has begun
    const directory = givenDirectory(t);
    const after = { requests: Math.floor(random() * requestsOfStory), ms: random() * 60 };
    const told = await tellUntil(directory, after);
    if (!told.isWhole) midway += 1;
    // When a service opens it
    await opens(t, directory, told.head, `kill ${kill}: ${JSON.stringify(after)}`);
  }
  t.log(`${kills} kills, ${midway} before the end of the story`);
  // Few kills may all come late.
  t.true(kills < 20 || midway > kills / 2);
});

/** Tells the story in a process, and kills it. Returns the last head of the log that was acknowledged before. */
async function tellUntil(
  directory: string,
  after: { readonly requests: number; readonly ms: number },
): Promise<{ readonly head: string | null; readonly isWhole: boolean }> {
  const child = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  let killing: NodeJS.Timeout | null = null;
  const heads = (): readonly string[] => [...said.matchAll(/^head (.*)\n/gm)].map(([, head = '']) => head);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    const isDue = heads().length > after.requests || said.includes('told');
    if (isDue) killing ??= setTimeout(() => child.kill('SIGKILL'), after.ms);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== null) throw new Error(`the story ended with ${code}: ${said}`);
  return { head: heads().at(-1) ?? null, isWhole: said.includes('told') };
}

async function opens(
  t: ExecutionContext,
  directory: string,
  acknowledged: string | null,
  moment: string,
): Promise<void> {
  const now = (): number => storyEndsAt;
  const service = await openRecorded(directory, { now });
  try {
    await viewsAtHead(service);
    // Then the log has what was acknowledged, and this build reads it
    const events = await readWholeLog(service.services.eventStore);
    t.true(acknowledged === null || events.some(({ position }) => position === acknowledged), moment);
    const read = events.map(({ stream, type, data }) => ({
      category: stream.split('-')[0] ?? '',
      type,
      data,
    }));
    t.deepEqual(problemsOf(read), problemsOf([]), moment);
    // and it goes on: an auditor signs up and verifies the whole log.
    const auditor = await givenAuditor(
      service,
      'eve@example.net',
      () => new Date(now()),
      () => givenContext((contexts += 1), new Date(now()), 'operator'),
    );
    await signed(service);
    const { vkeys } = (await readAs(service.url, '/audit/status', auditor.headers)) as { vkeys: string[] };
    t.is(await problemsOfLog(service, auditor.headers, vkeys.join('\n')), null, moment);
  } finally {
    await service.close();
  }
}

/** The contexts of the story have numbers from 1. */
let contexts = 1_000;
