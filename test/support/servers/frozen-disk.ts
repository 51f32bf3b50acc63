import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { makeServiceClient, textOf } from '../clients/service-client.js';
import { unlimitedRates } from './overload.js';
import { freePort, makeDataDirectory, type ServiceProcess, startService } from './service-process.js';

const frozenSeconds = 9;
const writers = 6;

/** What a frozen disk needs that this machine lacks; undefined where nothing is missing. */
export const frozenDiskLacks =
  process.getuid?.() !== 0
    ? 'root'
    : (['fsfreeze', 'losetup', 'mkfs.ext4', 'mount'].find(
        (tool) => spawnSync('which', [tool]).status !== 0,
      ) ?? (spawnSync('losetup', ['-f']).status === 0 ? undefined : 'a loop device'));

type Kind = 'health' | 'reads' | 'writes';

/** What a service answered while its disk was frozen. */
interface FrozenDiskRun {
  /** The requests of each kind during a freeze, and how many of them were answered 503. */
  readonly asked: Readonly<Record<Kind | 'refused', number>>;
  /** The longest answer of each kind in ms. */
  readonly longest: Readonly<Record<Kind, number>>;
  /** Replies to a write that are neither 200 nor 503. */
  readonly unexpected: readonly string[];
  /** Acknowledged changes that are missing after a kill. */
  readonly lost: readonly string[];
}

/** Freezes the disk of a service under six writers, a reader and a client that asks for the health, for 9 s each time. */
export async function freezeUnderWriters(freezes: number): Promise<FrozenDiskRun> {
  const disk = await makeDisk();
  const running: ServiceProcess[] = [];
  try {
    const limits = join(disk.folder, 'limits.json');
    await writeFile(limits, JSON.stringify(unlimitedRates));
    const start = { directory: disk.data, port: await freePort(), environment: { LIMITS_FILE: limits } };
    const service = await startService(start);
    running.push(service);
    const client = makeServiceClient(service.url);
    const owner = await client.register('ada@example.org', 'Correct-Horse-7');
    const asked = { health: 0, reads: 0, writes: 0, refused: 0 };
    const longest = { health: 0, reads: 0, writes: 0 };
    const unexpected: string[] = [];
    /** The number of the last name that each project was given. */
    const named = new Map<string, number>();
    let [isFrozen, isOver] = [false, false];
    const timed = async (kind: Kind, ask: () => Promise<number>): Promise<void> => {
      const began = performance.now();
      const counts = isFrozen;
      const status = await ask();
      if (!counts) return;
      asked[kind] += 1;
      if (status === 503) asked.refused += 1;
      longest[kind] = Math.max(longest[kind], performance.now() - began);
    };
    const write = async (): Promise<void> => {
      const id = await client.makeProject(owner.headers, 'Film 0');
      named.set(id, 0);
      for (let n = 1; !isOver; n += 1) {
        await timed('writes', async () => {
          const reply = await client.patch(`/api/v1/projects/${id}`, { name: `Film ${n}` }, owner.headers);
          if (reply.status === 200) named.set(id, n);
          else if (reply.status !== 503) unexpected.push(`${reply.status} ${reply.text}`);
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
    for (let freeze = 0; freeze < freezes; freeze += 1) {
      await wait(700);
      isFrozen = true;
      await disk.freeze();
      isFrozen = false;
      await wait(300);
    }
    isOver = true;
    await Promise.all(clients);
    await service.kill();
    const again = await startService(start);
    running.push(again);
    const reader = makeServiceClient(again.url);
    const lost: string[] = [];
    for (const [id, acknowledged] of named) {
      const reply = await reader.get(`/api/v1/projects/${id}`, owner.headers);
      const name = reply.status === 200 ? textOf(reply.json(), 'name') : String(reply.status);
      // A write that was 503 may have been carried out.
      if (!(Number(name.replace('Film ', '')) >= acknowledged)) lost.push(`${name} after ${acknowledged}`);
    }
    return { asked, longest, unexpected, lost };
  } finally {
    await Promise.all(running.map((service) => service.kill()));
    await disk.remove();
  }
}

/** Mounts an image as a file system. */
async function makeDisk() {
  const directory = await makeDataDirectory();
  const { path: folder } = directory;
  const [image, mount] = [join(folder, 'image'), join(folder, 'mount')];
  await mkdir(mount);
  execFileSync('truncate', ['-s', '256M', image]);
  execFileSync('mkfs.ext4', ['-q', image]);
  execFileSync('mount', ['-o', 'loop', image, mount]);
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
    remove: async (): Promise<void> => {
      spawnSync('fsfreeze', ['-u', mount]);
      execFileSync('umount', [mount]);
      await directory.remove();
    },
  };
}
