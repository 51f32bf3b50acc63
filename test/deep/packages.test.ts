import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { packageFile } from '../../src/package-files.js';
import { eventually } from '../support/eventually.js';
import { cpuMsOfGroup } from '../support/servers/process-costs.js';
import { freePort, givenDirectory } from '../support/servers/service-process.js';

/* Builds the packages twice from the sources alone, installs them from their files into an empty folder, and uses them there. */

const run = promisify(execFile);
const clone = fileURLToPath(packageFile('.'));
const commitSeconds = 1_785_000_000;
const folders = ['.', 'clients/typescript', 'clients/verify'];
const readyCpuMsMax = 3_000;

/** Copies the sources without anything that was built. */
async function copySources(home: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: clone,
  });
  const needed = /^[^/]+$|^(scripts|src|projections|clients|docs)\//;
  for (const file of stdout.split('\0').filter((name) => needed.test(name)))
    cpSync(join(clone, file), join(home, 'clone', file));
  symlinkSync(join(clone, 'node_modules'), join(home, 'clone', 'node_modules'));
  // Where the guides were not built before, the build installs what makes them.
  const siteBuilder = join(clone, 'docs', 'node_modules');
  if (existsSync(siteBuilder)) symlinkSync(siteBuilder, join(home, 'clone', 'docs', 'node_modules'));
}

/** Builds the copied sources, and returns the folder with the packed files. */
async function packClean(home: string): Promise<string> {
  const [copy, packed] = [join(home, 'clone'), join(home, 'packed')];
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(commitSeconds) };
  await run('npm', ['run', 'build'], { cwd: copy, env });
  await mkdir(packed);
  for (const folder of folders)
    await run('npm', ['pack', '--pack-destination', packed], { cwd: join(copy, folder) });
  return packed;
}

const digestsIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );

test('Two clean builds are equal, and their packages work where only Node is', async (t) => {
  // Given two clean builds in folders with other names
  const homes = [givenDirectory(t), givenDirectory(t)] as const;
  await Promise.all(homes.map(copySources));
  const [one, other] = [await packClean(homes[0]), await packClean(homes[1])];
  const names = Object.keys(digestsIn(one));
  t.deepEqual(digestsIn(one), digestsIn(other));
  const { version } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')) as { version: string };
  t.deepEqual(
    names,
    ['stowage', 'stowage-client', 'stowage-verify'].map((name) => `${name}-${version}.tgz`),
  );

  // When all are installed from their files into an empty folder
  const home = givenDirectory(t);
  const files = names.map((name) => join(one, name));
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--prefix', home, ...files], {
    cwd: home,
  });
  const installed = (path: string): string => readFileSync(join(home, 'node_modules', path), 'utf8');

  // Then no package of the bundle comes with them, and each brings its licence
  const brought = readdirSync(join(home, 'node_modules'));
  t.deepEqual(
    ['koa', 'pino', 'esbuild', 'vue'].filter((name) => brought.includes(name)),
    [],
  );
  t.true(installed('stowage/dist/common-passwords.txt').startsWith('password '));
  for (const name of ['stowage', 'stowage-client', 'stowage-verify']) {
    t.is(installed(`${name}/LICENSE`), readFileSync(join(clone, 'LICENSE'), 'utf8'));
    t.is(installed(`${name}/NOTICE`), readFileSync(join(clone, 'NOTICE'), 'utf8'));
  }
  t.regex(installed('stowage/THIRD-PARTY'), /^koa 3\.[\d.]+ \(MIT\)$/m);
  const bom = JSON.parse(installed('stowage/sbom.cdx.json')) as {
    serialNumber: string;
    metadata: { timestamp: string };
    components: { purl: string }[];
  };
  t.regex(bom.serialNumber, /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  t.is(bom.metadata.timestamp, new Date(commitSeconds * 1_000).toISOString());
  const purls = bom.components.map(({ purl }) => purl.replace(/@[^@]+$/, ''));
  t.true(
    ['pkg:npm/koa', 'pkg:npm/mongodb', 'pkg:npm/%40scalar/api-reference', 'pkg:npm/vue'].every((purl) =>
      purls.includes(purl),
    ),
  );
  t.false(purls.includes('pkg:npm/esbuild'));

  // and the service starts by its name
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    PORT: String(port),
    SMTP_URL: 'log:',
    DRAIN_SECONDS: '0',
  };
  const service = spawn('npx', ['stowage', 'serve'], { cwd: home, env, detached: true, stdio: 'ignore' });
  const end = (): boolean => service.exitCode === null && process.kill(-(service.pid ?? 0), 'SIGTERM');
  t.teardown(end);
  const isReady = (): Promise<boolean> =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually('the installed service is ready', isReady, { pid: service.pid });
  const cpuMs = await cpuMsOfGroup(service.pid ?? 0);
  t.log(`CPU from npx stowage serve to /readyz: ${cpuMs} ms`);
  t.true(cpuMs <= readyCpuMsMax);
  for (const page of ['/docs', '/guides/']) t.is((await fetch(`${url}${page}`)).status, 200, page);

  // and the client signs up there
  const script = `import { makeStowageClient, must } from 'stowage-client';
    const client = makeStowageClient({ url: '${url}' });
    await client.register({ email: 'ada@example.org', password: 'Correct-Horse-9' });
    console.log((await must(client.api.POST('/api/v1/projects', { body: { name: 'Film' } }))).name);`;
  writeFileSync(join(home, 'sign-up.mjs'), script);
  t.is((await run(process.execPath, ['sign-up.mjs'], { cwd: home, env })).stdout, 'Film\n');

  // and the verifier verifies an export of its log
  const npx = async (...args: readonly string[]): Promise<string> =>
    (await run('npx', args, { cwd: home, env })).stdout;
  writeFileSync(join(home, 'auditor.vkey'), await npx('stowage', 'audit', 'key'));
  const isExported = (): Promise<boolean> =>
    npx('stowage', 'audit', 'export', 'export').then(
      () => true,
      () => false,
    );
  await eventually('the log is signed and exported', isExported, { pid: service.pid, pollMs: 500 });
  const verifier = join('node_modules', 'stowage-verify', 'verify.js');
  const verdict = await run(process.execPath, [verifier, 'export', '--key', 'auditor.vkey'], {
    cwd: home,
    env,
  });
  t.regex(verdict.stdout, /verified/i);
  end();
  await once(service, 'exit');
});
