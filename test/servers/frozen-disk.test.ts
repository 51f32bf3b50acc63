import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { makeServiceClient, textOf } from '../support/clients/service-client.js';
import { freePort, makeDataDirectory, startService } from '../support/servers/service-process.js';

/** DEEP_BUDGET=1 freezes 20 times for 9 s. */
const freezes = Math.max(2, Math.round(20 * Number(process.env['DEEP_BUDGET'] ?? 0.1)));
const frozenSeconds = 9;
const writers = 6;
/** The longest answers during a freeze, in ms: those of the service, and a second of a busy machine for writes. */
const longestMs = { health: 1_000, reads: 2_000, writes: 6_000 };

const lacks =
  process.getuid?.() !== 0
    ? 'root'
    : ['fsfreeze', 'losetup', 'mkfs.ext4', 'mount'].find((tool) => spawnSync('which', [tool]).status !== 0);
const isMountable = lacks === undefined && spawnSync('losetup', ['-f']).status === 0;
const run = isMountable ? test.serial : test.serial.skip;
if (!isMountable) console.log(`NOT RUN: a frozen disk: it needs ${lacks ?? 'a loop device'}`);

run(
  'While the disk is frozen, health answers, reads answer or are 503, and writes are 503; nothing acknowledged is lost',
  async (t) => {
    t.timeout(30 * 60_000);
    // Given a service on a file system in an image, and six clients that write
    const disk = await givenDisk(t);
    const unlimited = { limit: 1_000_000, seconds: 1 };
    const limits = join(disk.folder, 'limits.json');
    await writeFile(limits, JSON.stringify({ session: unlimited, user: unlimited, register: unlimited }));
    const start = { directory: disk.data, port: await freePort(), environment: { LIMITS_FILE: limits } };
    const service = await startService(start);
    t.teardown(() => service.kill());
    const client = makeServiceClient(service.url);
    const owner = await client.register('ada@example.org', 'Correct-Horse-7');
    const asked = { health: 0, reads: 0, writes: 0, refused: 0 };
    const longest: Record<keyof typeof longestMs, number> = { health: 0, reads: 0, writes: 0 };
    const problems: string[] = [];
    /** The number of the last name that each project was given. */
    const named = new Map<string, number>();
    let [isFrozen, isOver] = [false, false];
    /** Asks, and notes a reply that took too long. */
    const timed = async (kind: keyof typeof longest, ask: () => Promise<number>): Promise<void> => {
      const began = performance.now();
      const freeze = isFrozen;
      const status = await ask();
      const ms = performance.now() - began;
      if (!freeze) return;
      asked[kind] += 1;
      if (status === 503) asked.refused += 1;
      longest[kind] = Math.max(longest[kind], ms);
      if (ms > longestMs[kind]) problems.push(`${kind}: ${status} after ${Math.round(ms)} ms`);
    };
    const write = async (): Promise<void> => {
      const made = await client.post('/api/v1/projects', { name: 'Film 0' }, owner.headers);
      const id = textOf(made.json(), 'id');
      named.set(id, 0);
      for (let n = 1; !isOver; n += 1) {
        await timed('writes', async () => {
          const reply = await client.send(`/api/v1/projects/${id}`, {
            method: 'PATCH',
            headers: { ...owner.headers, 'content-type': 'application/json' },
            body: JSON.stringify({ name: `Film ${n}` }),
          });
          if (reply.status === 200) named.set(id, n);
          else if (reply.status !== 503) problems.push(`a write: ${reply.status} ${reply.text}`);
          return reply.status;
        });
      }
    };
    const read = async (): Promise<void> => {
      while (!isOver) {
        for (const path of ['/api/v1/projects', ...[...named.keys()].map((id) => `/api/v1/projects/${id}`)])
          await timed('reads', async () => (await client.get(path, owner.headers)).status);
        await wait(20);
      }
    };
    const askHealth = async (): Promise<void> => {
      while (!isOver) {
        await timed('health', async () => (await fetch(`${service.url}/healthz`)).status);
        await wait(50);
      }
    };
    const clients = [...Array.from({ length: writers }, write), read(), askHealth()];
    // When the disk freezes again and again
    for (let freeze = 0; freeze < freezes; freeze += 1) {
      await wait(700);
      isFrozen = true;
      await disk.freeze();
      isFrozen = false;
      await wait(300);
    }
    isOver = true;
    await Promise.all(clients);
    t.log(JSON.stringify({ freezes, asked, longest }));
    // Then every reply came in its time
    t.deepEqual(problems, []);
    t.true(asked.health > freezes && asked.reads > freezes && asked.refused > 0);
    // and every acknowledged change is there, also after a kill.
    await service.kill();
    const again = await startService(start);
    t.teardown(() => again.kill());
    const reader = makeServiceClient(again.url);
    for (const [id, acknowledged] of named) {
      const reply = await reader.get(`/api/v1/projects/${id}`, owner.headers);
      t.is(reply.status, 200, reply.text);
      const name = textOf(reply.json(), 'name');
      // A write that was 503 may have been carried out.
      t.true(Number(name.replace('Film ', '')) >= acknowledged, `${name} after ${acknowledged}`);
    }
  },
);

/** Mounts an image as a file system. */
async function givenDisk(t: ExecutionContext) {
  const directory = await makeDataDirectory();
  const { path: folder } = directory;
  const [image, mount] = [join(folder, 'image'), join(folder, 'mount')];
  await mkdir(mount);
  execFileSync('truncate', ['-s', '256M', image]);
  execFileSync('mkfs.ext4', ['-q', image]);
  execFileSync('mount', ['-o', 'loop', image, mount]);
  // Teardowns run in reverse.
  t.teardown(async () => {
    spawnSync('fsfreeze', ['-u', mount]);
    execFileSync('umount', [mount]);
    await directory.remove();
  });
  const data = join(mount, 'data');
  await mkdir(data);
  await chmod(data, 0o700);
  return {
    folder,
    data,
    /** Another process thaws the disk, even if this one waits for it. */
    freeze: async (): Promise<void> => {
      const script = `fsfreeze -f "$1" && sleep ${frozenSeconds}; fsfreeze -u "$1"`;
      await once(spawn('sh', ['-c', script, 'sh', mount], { stdio: 'ignore' }), 'close');
    },
  };
}
