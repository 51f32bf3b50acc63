import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { packageFile } from '../../../src/package-files.js';
import { defaultLimits } from '../../../src/security/rates/limits.js';
import { sendRaw } from '../clients/send-raw.js';
import { givenDirectory } from '../directories.js';
import { eventually, type EventuallyOptions } from '../eventually.js';

/** The built program, which users start. */
export const cli = fileURLToPath(packageFile('dist/cli.js'));
const nodeArguments = ['--enable-source-maps', cli];

/** The real service in a separate process, over a data directory that outlives it. */
export interface ServiceProcess {
  readonly url: string;
  readonly directory: string;
  readonly pid: number;
  /** Returns the text that the service has written to standard output and standard error so far. */
  output(): string;
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Sends SIGKILL and waits for the end of the process. */
  kill(): Promise<void>;
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
  /** Resolves with the exit code when the process ends by itself. */
  readonly exited: Promise<number | null>;
}

export type Environment = Readonly<Record<string, string>>;

export interface StartOptions {
  readonly directory: string;
  readonly port: number;
  readonly environment?: Environment;
  /** The limit for each file of the process in KiB. A write beyond it fails, as on a bad disk (needs bash). */
  readonly fileKibibytesMax?: number;
  /** The program of Node. Default: that of the tests. */
  readonly node?: string;
  /** Whether standard output goes to /dev/null, so that a long run keeps no log in memory. */
  readonly toNowhere?: boolean;
}

export async function makeDataDirectory(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'stowage-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export { givenDirectory };

/**
 * Returns a port that was free a moment ago. It avoids the ports that systems give to outgoing connections (Linux: from
 * 32768 on), because one of these could take the port first.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Starts `serve` and waits until it is ready. */
export async function startService(
  options: StartOptions & Pick<EventuallyOptions, 'pollMs' | 'cpuMs'>,
): Promise<ServiceProcess> {
  const service = spawnService(options);
  const { pid, url } = service;
  const { pollMs, cpuMs } = options;
  let ended = false;
  void service.exited.then(() => {
    ended = true;
  });
  const isReady = async (): Promise<boolean> => {
    // A separate connection ends with its reply, so a test can count connections.
    const ready = await sendRaw(`${url}/readyz`, { method: 'GET' }).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (!ready && ended) throw new Error(`the service ended before it was ready:\n${service.output()}`);
    return ready;
  };
  const what = (): string => `the service on ${options.directory} is ready:\n${service.output()}\n`;
  try {
    await eventually(what, isReady, { pid, pollMs, cpuMs, at: startService });
    return service;
  } catch (error) {
    await service.kill();
    throw error;
  }
}

/** Returns the setting of limits that no load of a test reaches. */
export function withoutLimits(t: ExecutionContext): Environment {
  const file = join(givenDirectory(t), 'limits.json');
  const unlimited = { limit: 1_000_000, seconds: 1 };
  const limits = Object.keys(defaultLimits).map((name) => [name, unlimited]);
  writeFileSync(file, JSON.stringify(Object.fromEntries(limits)));
  return { LIMITS_FILE: file };
}

/** Starts `serve` for a test, whose end kills it. Default: on a new data directory and a free port. */
export async function givenService(
  t: ExecutionContext,
  options: Partial<Parameters<typeof startService>[0]> = {},
): Promise<ServiceProcess> {
  const { directory = givenDirectory(t), port = await freePort() } = options;
  const service = await startService({ ...options, directory, port });
  t.teardown(() => service.kill());
  return service;
}

/** Starts `serve` without waiting, for starts that fail. */
export function spawnService(options: StartOptions): ServiceProcess {
  const { directory, port, environment = {}, fileKibibytesMax, node = process.execPath, toNowhere } = options;
  const command = [node, ...nodeArguments, 'serve'];
  const limited =
    fileKibibytesMax === undefined
      ? command
      : ['/bin/bash', '-c', `ulimit -f ${fileKibibytesMax} && exec "$@"`, 'bash', ...command];
  const [program = '', ...args] = limited;
  const child = spawn(program, args, {
    env: { ...baseEnvironment(), DATA_DIR: directory, PORT: String(port), ...environment },
    stdio: ['ignore', toNowhere === true ? 'ignore' : 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const exited = exitOf(child);
  return {
    url: `http://127.0.0.1:${port}`,
    directory,
    pid: child.pid ?? 0,
    output: () => Buffer.concat(chunks).toString('utf8'),
    exited,
    signal: (name) => child.kill(name),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

type Logged = JsonObject & { readonly level: number; readonly msg: string };

/** Returns the lines that the log of a service has in its output. */
export function loggedIn(output: string): readonly Logged[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Logged);
}

/** Runs one command of the CLI to its end. */
export async function runCli(
  directory: string,
  args: readonly string[],
  environment: Environment = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const env = { ...baseEnvironment(), DATA_DIR: directory, ...environment };
  let result: Awaited<ReturnType<typeof runCli>> | null = null;
  const child = execFile(process.execPath, [...nodeArguments, ...args], { env }, (error, stdout, stderr) => {
    const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
    result = { code, stdout, stderr };
  });
  try {
    return await eventually(`${args.join(' ')} ends`, () => result, { pid: child.pid, at: runCli });
  } finally {
    child.kill('SIGKILL');
  }
}

/**
 * Returns the environment of the service: only the variables that a shell needs, and none of the caller's
 * configuration.
 */
function baseEnvironment(): Environment {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: tmpdir(),
    // Compiling the program is a sixth of the CPU of a start. Node 20 has no such cache.
    NODE_COMPILE_CACHE: fileURLToPath(packageFile('dist/compile-cache')),
    // Tests wait for no balancer, and all of their clients have one address.
    DRAIN_SECONDS: '0',
    MAX_CONNECTIONS_PER_CLIENT: '1000',
  };
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}

/** The program that runs a command at a pseudo terminal: script of util-linux; null where the system has none. */
export const terminalProgram =
  process.platform === 'linux' && spawnSync('script', ['--version']).status === 0 ? 'script' : null;

/** Runs one command of the CLI at a pseudo terminal. When the output matches `asks`, it types the answer and return. */
export async function runCliAtTerminal(
  directory: string,
  args: readonly string[],
  { asks, answer }: { readonly asks: RegExp; readonly answer: string },
): Promise<{ readonly code: number | null; readonly output: string }> {
  if (terminalProgram === null) throw new Error('the system has no program for a pseudo terminal');
  const command = [process.execPath, ...nodeArguments, ...args].map((part) => `'${part}'`).join(' ');
  const child = spawn(terminalProgram, ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { ...baseEnvironment(), DATA_DIR: directory },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [output, answered] = ['', false];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
    if (answered || !asks.test(output)) return;
    answered = true;
    child.stdin.write(`${answer}\r`);
  });
  const code = await exitOf(child);
  return { code, output };
}

const names = ['JWT_KEYS', 'MASTER_KEYS', 'REFRESH_KEYS', 'CODE_KEYS', 'PEPPERS', 'AUDIT_SIGNING_KEYS'];

/** Every key that a service on EventStoreDB or MongoDB needs from its environment; the same in every run. */
export const keyEnvironment: Environment = {
  ...Object.fromEntries(names.map((name) => [name, `k1:${keyText(name)}`] as const)),
  INDEX_KEY: keyText('INDEX_KEY'),
};

function keyText(name: string): string {
  return Buffer.alloc(32, name).toString('base64url');
}
