/* Builds the image as `scripts/build-image.sh` does, without a daemon, and runs it as a container would: as its user, on a root that
   cannot be written, with one volume. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { packageFile } from '../../src/package-files.js';
import { eventually } from '../support/eventually.js';
import { freePort, makeDataDirectory } from '../support/servers/service-process.js';
import { suite } from '../support/suite.js';

const run = promisify(execFile);
const builder = fileURLToPath(packageFile('scripts/build-image.sh'));
/** The user `node` of the base image. */
const user = 1_000;

/** What the image says of itself, as `docker inspect` shows it. */
interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly Volumes: Readonly<Record<string, unknown>>;
}

/** Separate mounts for the program: the files of the image, read-only, with the volume and the devices. */
const inContainer = `set -e
  root=$1 volume=$2 user=$3 folder=$4; shift 4
  mount --bind "$root" "$root"
  mount --bind "$volume" "$root/data"
  mount --bind /dev "$root/dev"
  mount --bind /proc "$root/proc"
  mount -o remount,bind,ro "$root"
  exec chroot --userspec="$user:$user" "$root" /usr/bin/env -i "$@"`;

const home = await makeDataDirectory();
test.after.always(() => home.remove());
const built = process.platform === 'linux' ? spawnSync(builder, [home.path], { encoding: 'utf8' }) : null;
const missing = built === null ? 'no Linux' : built.status === 75 ? built.stderr.trim() : null;

suite(test, missing, 'The image', () => {
  test('The image starts as its user on a read-only root with one volume, is healthy, and ends at SIGTERM', async (t) => {
    // Given the image, and an empty volume that belongs to its user
    t.is(built?.status, 0, built?.stderr);
    const root = (built?.stdout ?? '').trim().split('\n').at(-1) ?? '';
    const about = JSON.parse(readFileSync(join(home.path, 'image.json'), 'utf8')) as {
      Docker: { config: ImageConfig };
    };
    const { User, Env, Cmd, WorkingDir, Healthcheck, Volumes } = about.Docker.config;
    t.deepEqual([User, WorkingDir, Object.keys(Volumes)], ['node', '/app', ['/data']]);
    const volume = join(home.path, 'volume');
    mkdirSync(volume, { mode: 0o700 });
    chownSync(volume, user, user);
    const port = await freePort();
    const environment = [...Env, `PORT=${port}`, 'HOST=127.0.0.1', 'DRAIN_SECONDS=0'];
    const command = (...words: readonly string[]): readonly string[] => [
      ...['--mount', 'bash', '-c', inContainer, 'container'],
      ...[root, volume, String(user), WorkingDir],
      ...environment,
      ...['sh', '-c', `cd ${WorkingDir} && exec "$@"`, 'sh', ...words],
    ];

    // When its command runs
    const service: ChildProcess = spawn('unshare', command(...Cmd), { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [service.stdout, service.stderr])
      stream?.on('data', (part: Buffer) => (output += part.toString()));
    t.teardown(() => service.kill('SIGKILL'));
    const url = `http://127.0.0.1:${port}`;
    const isReady = async (): Promise<boolean> => {
      if (service.exitCode !== null) throw new Error(output);
      try {
        return (await fetch(`${url}/readyz`)).ok;
      } catch {
        return false;
      }
    };
    await eventually('the program of the image is ready', isReady, { pid: service.pid });

    // Then it runs as its user, its health check passes, and commands and pages work
    const status = readFileSync(`/proc/${service.pid ?? 0}/status`, 'utf8');
    t.regex(status, new RegExp(`^Uid:\\s+${user}\\s+${user}\\s`, 'm'));
    await t.notThrowsAsync(run('unshare', [...command(...Healthcheck.Test.slice(1))]));
    const shown = await run('unshare', [...command('node', 'dist/cli.js', 'status')]);
    t.regex(shown.stdout, /ready/);
    for (const page of ['/docs', '/guides/', '/audit'])
      t.is((await fetch(`${url}${page}`)).status, 200, page);
    for (const file of ['LICENSE', 'NOTICE', 'THIRD-PARTY', 'sbom.cdx.json'])
      t.true(existsSync(join(root, 'app', file)), file);
    // And nothing but the volume can be written
    const write = `require('node:fs').writeFileSync(process.argv[1], '')`;
    for (const path of ['/app/file', '/tmp/file', '/etc/file'])
      await t.throwsAsync(
        run('unshare', [...command('node', '-e', write, path)]),
        { message: /EROFS/ },
        path,
      );

    // And SIGTERM ends it
    service.kill('SIGTERM');
    const [code] = (await once(service, 'exit')) as [number | null];
    t.is(code, 0, output);
  });
});
