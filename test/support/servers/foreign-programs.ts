import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { givenWitness } from '../audit/audit-export.js';
import { eventually } from '../eventually.js';
import { freePort } from './service-process.js';

/** Whether a preparation succeeds. AVA wants each test to be declared before anything asynchronous, so this one blocks. */
export function succeeds(
  command: string,
  args: readonly string[],
  seconds: number,
  { env = {}, cwd }: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {},
): boolean {
  const limits = { timeout: seconds * 1000, killSignal: 'SIGKILL', stdio: 'ignore' } as const;
  const where = cwd === undefined ? {} : { cwd };
  return spawnSync(command, args, { ...limits, ...where, env: { ...process.env, ...env } }).status === 0;
}

/** A command with a limit of its time. */
interface Preparation {
  readonly run: readonly [command: string, ...args: readonly string[]];
  readonly seconds: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Runs the preparations of each row one after the other, until one fails, and prints which rows succeeded. */
const runRows = `
  const { spawn } = require('node:child_process');
  const once = ({ run: [command, ...args], seconds, env, cwd }) =>
    new Promise((resolve) => {
      const limits = { timeout: seconds * 1000, killSignal: 'SIGKILL', stdio: 'ignore' };
      const child = spawn(command, args, { ...limits, cwd, env: { ...process.env, ...env } });
      child.once('error', () => resolve(false)).once('exit', (code) => resolve(code === 0));
    });
  const all = async (row) => {
    for (const preparation of row) if (!(await once(preparation))) return false;
    return true;
  };
  Promise.all(JSON.parse(process.argv[1]).map(all)).then((rows) => console.log(JSON.stringify(rows)));`;

/** Tells which rows of preparations succeed. The rows run side by side, and this blocks as `succeeds` does. */
export function succeedTogether(rows: readonly (readonly Preparation[])[]): readonly boolean[] {
  const { stdout } = spawnSync(process.execPath, ['-e', runRows, JSON.stringify(rows)], {
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
  });
  return JSON.parse(stdout) as boolean[];
}

const goModule = `module omniwitness.test

go 1.25.0

require (
	github.com/transparency-dev/formats v0.1.2-0.20260710124811-af9e607161b6
	github.com/transparency-dev/witness v0.0.0-20260701145555-54dbcdd14f82
)
`;

/**
 * Builds the witness omniwitness with Go: a minute, and two where its modules are not cached. Returns the path of the
 * program; null where Go or its modules are missing.
 */
export function buildOmniwitness(directory: string): string | null {
  writeFileSync(join(directory, 'go.mod'), goModule);
  const program = join(directory, 'omniwitness');
  const main = 'github.com/transparency-dev/witness/cmd/omniwitness';
  const args = ['build', '-mod=mod', '-o', program, main];
  return succeeds('go', args, 280, { cwd: directory, env: { CGO_ENABLED: '0' } }) ? program : null;
}

/**
 * Starts omniwitness behind a proxy that notes its answers.
 * @param log the only log of ours that it knows
 */
export async function startOmniwitness(
  program: string,
  log: { readonly origin: string; readonly vkey: string },
) {
  const directory = mkdtempSync(join(tmpdir(), 'omniwitness-'));
  const [name, seed] = ['witness.example/omniwitness', 5];
  const { vkey } = givenWitness(name, seed);
  const keyId = vkey.split('+')[1] ?? '';
  const typed = Buffer.concat([Buffer.of(4), Buffer.alloc(32, seed)]).toString('base64');
  const privateKey = `PRIVATE+KEY+${name}+${keyId}+${typed}`;
  writeFileSync(join(directory, 'key'), privateKey, { mode: 0o600 });
  writeFileSync(
    join(directory, 'logs.yaml'),
    `Logs:\n  - Origin: ${log.origin}\n    PublicKey: ${log.vkey}\n    URL: http://127.0.0.1/\n`,
  );
  const port = await freePort();
  const options = {
    listen: `127.0.0.1:${port}`,
    metrics_listen: '',
    private_key_path: join(directory, 'key'),
    db_file: join(directory, 'witness.db'),
    additional_logs: join(directory, 'logs.yaml'),
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(program, [...args, '--logtostderr'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const output: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  const proxy = await startNotingProxy(`http://127.0.0.1:${port}`);
  const stop = async (): Promise<void> => {
    await proxy.close();
    await ended(child);
    rmSync(directory, { recursive: true });
  };
  await eventually('omniwitness answers', async () => {
    if (child.exitCode !== null) throw new Error(`omniwitness ended: ${Buffer.concat(output).toString()}`);
    return fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { url: proxy.url, vkey, answers: proxy.answers, close: stop };
}

async function startNotingProxy(target: string) {
  const answers: { readonly status: number; readonly text: string }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) =>
      fetch(`${target}${request.url ?? ''}`, { method: 'POST', body, signal: AbortSignal.timeout(600_000) })
        .then(async (reply) => ({ status: reply.status, text: await reply.text() }))
        .then(
          (answer) => {
            answers.push(answer);
            response.writeHead(answer.status).end(answer.text);
          },
          () => response.writeHead(502).end(),
        ),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Its answers: a status and the text of the body. */
    answers,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
