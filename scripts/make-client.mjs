/* global AbortSignal */
// Makes the TypeScript client: its types come from the OpenAPI document of the built service. They are not committed, so they
// are never stale: each build makes them again when the service has changed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { clearTimeout, setTimeout } from 'node:timers';
import openapiTypescript, { astToString } from 'openapi-typescript';

const root = join(import.meta.dirname, '..');
const target = join(root, 'clients', 'typescript', 'src');
const types = join(target, 'document.ts');
const startMsMax = 120_000;

/** Makes the types of the client, and compiles it to `clients/typescript/dist`. It needs the built program. */
export async function makeClient() {
  const document = await readDocument();
  const idempotent = Object.entries(document.paths)
    .filter(([, { post }]) => JSON.stringify(post?.parameters ?? []).includes('parameters/Idempotency-Key'))
    .map(([path]) => `  '${path}',`);
  if (idempotent.length === 0) throw new Error('the document has no call with an Idempotency-Key');
  writeFileSync(
    join(target, 'idempotent-paths.ts'),
    `/** The paths whose POST takes an \`Idempotency-Key\`. */\nexport const idempotentPaths: ReadonlySet<string> = new Set([\n${idempotent.join('\n')}\n]);\n`,
  );
  writeFileSync(types, astToString(await openapiTypescript(document)));
  const compiler = join(root, 'node_modules', 'typescript-7', 'bin', 'tsc');
  const compiling = spawn(process.execPath, [compiler, '--project', join(root, 'clients', 'typescript')], {
    stdio: 'inherit',
  });
  const [code] = await once(compiling, 'exit');
  if (code !== 0) throw new Error('the client does not compile');
}

/** Returns the document that the service serves. */
async function readDocument() {
  const directory = mkdtempSync(join(tmpdir(), 'stowage-types-'));
  const service = spawn(process.execPath, [join(root, 'dist', 'cli.js'), 'serve'], {
    // None of the caller's settings: a build beside a configured service must not open the stores of that service.
    env: { PATH: process.env.PATH, PORT: '0', HOST: '127.0.0.1', DATA_DIR: directory, SMTP_URL: 'log:' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => service.once('exit', resolve));
  const timer = setTimeout(() => service.kill('SIGKILL'), startMsMax);
  try {
    const url = await new Promise((resolve, reject) => {
      createInterface({ input: service.stderr }).on('line', (line) => {
        const found = /Stowage listens on (\S+)/.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      });
      service.once('exit', () => reject(new Error('the service ended before it listened')));
    });
    const reply = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(startMsMax) });
    if (!reply.ok) throw new Error(`/openapi.json answered ${reply.status}`);
    return await reply.json();
  } finally {
    clearTimeout(timer);
    service.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  }
}
