/* Tests examples/web, and with it the TypeScript client, in a real browser: Chromium, controlled by WebDriver. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../support/eventually.js';
import { type FakeStorage, givenFakeStorage } from '../support/fakes/fake-storage.js';
import { type Browser, givenBrowser, missingBrowser } from '../support/clients/web-driver.js';
import { freePort, makeDataDirectory, runCli } from '../support/servers/service-process.js';

const missing = missingBrowser();
const fileBytes = 20 * 2 ** 20;

/** Starts the example by its command. It has its own process group, as in a terminal. */
async function givenExample(t: ExecutionContext, settings: Readonly<Record<string, string>>) {
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const program = spawn(process.execPath, ['examples/web/serve.mjs'], {
    // The example runs on embedded stores, also where the suites have other servers.
    env: { PATH: process.env['PATH'], DATA_DIR: directory.path, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const output: string[] = [];
  program.stdout.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  program.stderr.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  // The output closes when both processes have ended.
  const ended = once(program, 'close').then(([code]) => code as number | null);
  const signalGroup = (name: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): void => {
    if (program.pid === undefined) throw new Error('the example did not start');
    process.kill(-program.pid, name);
  };
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  t.teardown(async () => {
    if (!hasEnded) signalGroup('SIGKILL');
    await ended;
  });
  const outputUntil = (pattern: RegExp): Promise<string> =>
    eventually(
      () => `the output has ${String(pattern)}: ${output.join('').slice(-2_000)}`,
      () => pattern.exec(output.join(''))?.[1],
      { pid: program.pid },
    );
  return { directory: directory.path, program, ended, signalGroup, outputUntil };
}

/** Starts the example, a bucket, and a browser on the page. */
async function given(t: ExecutionContext) {
  const storage: FakeStorage = await givenFakeStorage(t);
  const [port, examplePort] = [await freePort(), await freePort()];
  const settings = { PORT: String(port), EXAMPLE_PORT: String(examplePort) };
  const { directory, outputUntil } = await givenExample(t, settings);
  const url = `http://127.0.0.1:${examplePort}`;
  await outputUntil(/(Stowage listens)/);
  const browser: Browser = await givenBrowser(t);
  await browser.open(url);
  const fill = async (form: string, fields: Readonly<Record<string, string>>): Promise<void> => {
    await browser.until(`return !document.getElementById('${form}').hidden`);
    for (const [name, value] of Object.entries(fields)) await browser.type(`#${form} [name=${name}]`, value);
    await browser.click(`#${form} button`);
  };
  return { directory, storage, browser, fill, outputUntil };
}

test('When the port of the example is taken, the service ends too', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port: taken } = other.address() as AddressInfo;
  const { ended, outputUntil } = await givenExample(t, {
    ...{ PORT: String(await freePort()), EXAMPLE_PORT: String(taken) },
  });
  t.is(await ended, 1);
  t.truthy(await outputUntil(/(The example does not start: .*EADDRINUSE)/));
});

test('Ctrl-C in a terminal ends the example and lets the service drain', async (t) => {
  const [port, examplePort] = [await freePort(), await freePort()];
  const { ended, outputUntil, signalGroup } = await givenExample(t, {
    ...{ PORT: String(port), EXAMPLE_PORT: String(examplePort), DRAIN_SECONDS: '2' },
  });
  await outputUntil(/(Stowage listens)/);
  signalGroup('SIGINT');
  t.is(await ended, 0);
});

test('SIGTERM to the example ends the service too', async (t) => {
  const [port, examplePort] = [await freePort(), await freePort()];
  const { ended, program, outputUntil } = await givenExample(t, {
    ...{ PORT: String(port), EXAMPLE_PORT: String(examplePort) },
  });
  await outputUntil(/(Stowage listens)/);
  program.kill('SIGTERM');
  t.is(await ended, 0);
});

if (missing !== null) {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip(`The example in a browser: ${missing}`, () => undefined);
} else {
  test('A person signs up, binds a bucket, uploads a file with progress and shares it', async (t) => {
    const { directory, storage, browser, fill, outputUntil } = await given(t);
    // The page shows what is wrong
    await fill('account', { email: 'ada@example.org', password: 'short' });
    await browser.until(`return document.getElementById('error').textContent.includes('password')`);
    await browser.run(`document.querySelector('#account [name=password]').value = ''`);
    await fill('account', { password: 'Correct-Horse-9' });
    await browser.until(`return !document.getElementById('verify').hidden`);
    await fill('verify', { code: await outputUntil(/"to":"ada@example\.org".*?\b(\d{6})\b/) });
    await fill('project', { name: 'Rivers' });
    await browser.until(`return !document.getElementById('bind').hidden`);
    const grant = String(await browser.run(`return document.getElementById('grant').textContent`));
    const [, projectId = ''] = /grant (\S+) allow_s3/.exec(grant) ?? [];
    t.is((await runCli(directory, ['project', 'grant', projectId, 'allow_s3'])).code, 0);
    const keys = { bucket: 'rushes', access_key: 'a-key', secret_key: 'a-secret' };
    await fill('bind', { endpoint: `http://127.0.0.1:${storage.port}`, ...keys });
    await browser.until(`return !document.getElementById('upload').hidden`);
    // When an upload that is not sent gets an abort, then it ends
    await browser.run(
      `import('/client/put-bytes.js')
        .then(({ putBytes }) => putBytes('/none', new Blob(['x']), { signal: AbortSignal.abort(), onProgress() {} }))
        .then((failure) => { window.aborted = failure; });`,
    );
    await browser.until(`return window.aborted === 'the upload was aborted'`);
    // When the upload of another file of the same size breaks off
    const otherPath = join(directory, 'other.bin');
    await writeFile(otherPath, Buffer.alloc(fileBytes, 'Other'));
    await browser.run(
      `window.open_ = XMLHttpRequest.prototype.open;
       XMLHttpRequest.prototype.open = function (method, url) {
         if (url.includes('partNumber=2')) throw new Error('no second part');
         return window.open_.call(this, method, url);
       };`,
    );
    await fill('upload', { file: otherPath });
    await browser.until(`return document.getElementById('error').textContent === 'no second part'`);
    await browser.run(`XMLHttpRequest.prototype.open = window.open_`);
    const path = join(directory, 'rhine.bin');
    await writeFile(path, Buffer.alloc(fileBytes, 'Rhine'));
    await browser.run(
      `window.progress = [];
       const bar = document.querySelector('progress');
       new MutationObserver(() => window.progress.push(bar.value)).observe(bar, { attributes: true });`,
    );
    await fill('upload', { file: path });
    await browser.until(`return !document.getElementById('share').hidden`);
    const progress = (await browser.run(`return window.progress`)) as number[];
    t.true(progress.length > 2, String(progress));
    t.is(progress.at(-1), 1);
    const objects = [...storage.objects.values()];
    t.is(objects.length, 1);
    t.true(objects[0]?.body.equals(Buffer.alloc(fileBytes, 'Rhine')));
    await fill('share', { password: 'open sesame' });
    await browser.until(`return document.querySelector('#link a') !== null`);
    // When a visitor opens the link
    await browser.open(String(await browser.run(`return document.querySelector('#link a').href`)));
    await browser.until(`return document.getElementById('password')?.checkVisibility() === true`);
    await browser.type('#password', 'open sesame\uE007');
    await browser.until(`return !document.getElementById('opened').hidden`);
    t.is(await browser.run(`return document.getElementById('title').textContent`), 'rhine.bin');
  });
}
