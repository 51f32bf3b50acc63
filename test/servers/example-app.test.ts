/* Tests examples/web, and with it the TypeScript client, in a real browser: Chromium, controlled by WebDriver. */
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import {
  desktop,
  behaveAs,
  brokenRules,
  keepScreenshot,
  overflowingWidths,
  type Browser,
  givenBrowser,
  browserSuite,
} from '../support/clients/browser.js';
import {
  clickThrough,
  type ExampleProcess,
  freePorts,
  openShare,
  startExample,
  stepShown,
} from '../support/servers/example-process.js';
import { givenDirectory } from '../support/servers/service-process.js';
import { listen } from '../support/servers/loopback.js';

const address = /Open (http:\S+)/;

function given(t: ExecutionContext, port = freePorts()) {
  const directory = givenDirectory(t);
  const settings = { PORT: String(port), DATA_DIR: directory, DRAIN_SECONDS: '1' };
  const start = (): ExampleProcess => startExample(t, [process.execPath, 'examples/web/serve.mjs'], settings);
  return { directory, url: `http://127.0.0.1:${port}`, start };
}

test('When a port of the example is taken, its error names the port and the way out', async (t) => {
  const taken = await listen(t, createServer());
  const { start } = given(t, taken);
  const { ended, outputUntil } = start();
  t.is(await ended, 1);
  t.regex(await outputUntil(/(The example does not start: .*)/), new RegExp(`EADDRINUSE.*:${taken}.*PORT=`));
});

for (const end of ['interrupt', 'signal'] as const) {
  const title = end === 'interrupt' ? 'Ctrl-C in a terminal' : 'SIGTERM to the example';
  test(`${title} ends the example and lets the service drain`, async (t) => {
    const { start, url } = given(t);
    const example = start();
    t.is(await example.outputUntil(address), url);
    if (end === 'interrupt') example.interrupt();
    else example.signal('SIGTERM');
    t.is(await example.ended, 0);
  });
}

test('Only the page of the example gets the keys of the bucket, and an unknown path is refused', async (t) => {
  const { start, url } = given(t);
  await start().outputUntil(address);
  const body = JSON.stringify({ project_id: '0196a000-0000-7000-8000-000000000001' });
  const ask = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await fetch(`${url}/bucket`, { method: 'POST', headers, body })).status;
  t.is(await ask({}), 404);
  t.is(await ask({ origin: 'http://127.0.0.1:1' }), 404);
  // The page itself gets as far as the operator's command, which knows no such project.
  t.is(await ask({ origin: url }), 500);
  // A path that is no URL is unknown, and the example goes on.
  t.is((await fetch(`${url}//`)).status, 404);
  t.is((await fetch(url)).status, 200);
});

browserSuite(test, 'The example in a browser', () => {
  test('A person signs up, binds a bucket, uploads a picture and shares it in five clicks', async (t) => {
    const { start, url } = given(t);
    const example = start();
    await example.outputUntil(address);
    const browser = await givenBrowser(t);
    await behaveAs(browser, desktop);
    await browser.open(url);
    const link = await clickThrough(browser, async (step) => {
      t.deepEqual(await brokenRules(browser), [], step);
      t.deepEqual(await overflowingWidths(browser, desktop), [], step);
    });
    // Then the page has asked the service, the bucket and its own origin alone
    const origins = `return [...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin))].sort()`;
    const port = Number(new URL(url).port);
    t.deepEqual(
      await browser.run(origins),
      [0, 1, 2].map((more) => `http://127.0.0.1:${port + more}`),
    );
    t.deepEqual(await browser.complaints(), []);
    // When a visitor opens the link
    await openShare(browser, link);
    t.is(await browser.run(`return document.getElementById('title').textContent`), 'Rhine at dawn.png');
    await keepScreenshot(browser, 'share-page');
    // When the example starts again on its data
    example.signal('SIGTERM');
    t.is(await example.ended, 0);
    await start().outputUntil(address);
    // Then the page goes on where it was, and the file is there
    await browser.open(url);
    await browser.until(`return document.querySelector('#shares a')?.href === '${link}'`);
    await openShare(browser, link);
    // When the person revokes the share
    await browser.open(url);
    await browser.until(`return document.querySelector('#shares button') !== null`);
    await browser.click('#shares button');
    await browser.until(`return document.getElementById('list').hidden`);
  });

  test('A bucket that fails its test is an error on the page, and another attempt follows', async (t) => {
    const { start, url } = given(t);
    await start().outputUntil(address);
    const browser = await givenBrowser(t);
    await browser.open(url);
    for (const step of ['account', 'project']) {
      await stepShown(browser, step);
      await browser.click(`#${step} button`);
    }
    await stepShown(browser, 'bucket');
    // Given an operator who gives a wrong key
    await browser.run(
      `const whole = window.fetch;
       window.fetch = async (...call) => {
         const reply = await whole(...call);
         if (call[0] !== '/bucket') return reply;
         window.fetch = whole;
         return Response.json({ ...await reply.json(), secret_key: 'wrong' });
       };`,
    );
    await browser.click('#bucket button');
    const error = `return document.getElementById('error').textContent`;
    await browser.until(`${error} !== ''`);
    t.regex((await browser.run(error)) as string, /^signature_mismatch/);
    // When the person tries again with the right one
    await browser.click('#bucket button');
    await stepShown(browser, 'upload');
  });

  test('The page shows what is wrong, and sends a file of the person with progress', async (t) => {
    const { directory, start, url } = given(t);
    await start().outputUntil(address);
    const browser: Browser = await givenBrowser(t);
    await browser.open(url);
    await stepShown(browser, 'account');
    await browser.run(`document.querySelector('#account [name=password]').value = 'short'`);
    await browser.click('#account button');
    await browser.until(`return document.getElementById('error').textContent.includes('password')`);
    await browser.run(`document.querySelector('#account [name=password]').value = 'Correct-Horse-9'`);
    for (const step of ['account', 'project', 'bucket']) {
      await stepShown(browser, step);
      await browser.click(`#${step} button`);
    }
    await stepShown(browser, 'upload');
    // When an upload that is not sent gets an abort, then it ends
    await browser.run(
      `import('/client/put-bytes.js')
        .then(({ putBytes }) => putBytes('/none', new Blob(['x']), { signal: AbortSignal.abort(), onProgress() {} }))
        .then((failure) => { window.aborted = failure; });`,
    );
    await browser.until(`return window.aborted === 'the upload was aborted'`);
    // When the person sends a large file, over a line that takes two seconds for it
    await browser.devTools('Network.enable', {});
    await browser.devTools('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 10 * 2 ** 20 },
    });
    const path = join(directory, 'rhine.bin');
    await writeFile(path, Buffer.alloc(20 * 2 ** 20, 'Rhine'));
    await browser.run(
      `window.progress = [];
       const bar = document.querySelector('progress');
       new MutationObserver(() => window.progress.push(bar.value)).observe(bar, { attributes: true });`,
    );
    await browser.type('#upload [name=file]', path);
    await browser.click('#upload button');
    await stepShown(browser, 'share');
    const progress = (await browser.run(`return window.progress`)) as number[];
    t.true(progress.length > 2, String(progress));
    t.is(progress.at(-1), 1);
  });
});
