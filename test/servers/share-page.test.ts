/* Tests the page that opens shares in a real browser: Chromium, controlled by WebDriver. */
import { deflateSync, crc32 } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import type { AssetDescription } from '../../src/domain/asset/events.js';
import type { CreateShareInput } from '../../src/commands/shares/create-share.js';
import { type FakeStorage, givenFakeStorage } from '../support/fakes/fake-storage.js';
import { addAsset, givenAsset, givenShare, sharePassword } from '../support/given/given-share.js';
import { startInProcess } from '../support/servers/service-in-process.js';
import { makeDataDirectory } from '../support/servers/service-process.js';
import { realClock } from '../support/fakes/clock.js';
import { type Browser, givenBrowser, missingBrowser } from '../support/clients/web-driver.js';

const missing = missingBrowser();

interface Scene {
  readonly browser: Browser;
  readonly storage: FakeStorage;
  /** Shares a file and opens its page in the browser. */
  readonly visit: (
    file: Pick<AssetDescription, 'media_type' | 'object_key'>,
    content: Buffer,
    terms?: Partial<CreateShareInput>,
  ) => Promise<{ readonly url: string }>;
}

async function given(t: ExecutionContext, { behindMs = 0 } = {}): Promise<Scene> {
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const storage = await givenFakeStorage(t);
  // The clock of the service is behind until the browser has fetched the file. So the browser takes all earlier links
  // for expired.
  const isBehind = (): boolean => !storage.requests.some((request) => request.startsWith('GET'));
  const now = (): Date => new Date(Date.now() - (isBehind() ? behindMs : 0));
  const service = await startInProcess({
    directory: directory.path,
    environment: { STORAGE_ALLOWED_CIDRS: '127.0.0.0/8' },
    clock: { ...realClock, now },
  });
  t.teardown(() => service.close());
  const { services, url } = service;
  const endpoint = `http://127.0.0.1:${storage.port}`;
  const place = await givenAsset(services, { endpoint });
  const browser = await givenBrowser(t);
  return {
    browser,
    storage,
    visit: async (file, content, terms = {}) => {
      const put = await fetch(`${endpoint}/rushes/${file.object_key}`, { method: 'PUT', body: content });
      t.is(put.status, 200);
      const asset = { name: 'Rhine at <dawn>', size: content.length, renditions: [], ...file };
      const assetId = await addAsset(services, place, asset);
      const { token } = await givenShare(services, { ...place, assetId }, terms);
      await browser.open(`${url}/s/${token}`);
      return { url };
    },
  };
}

const image = { media_type: 'image/png', object_key: 'rhine.png' };
const sound = { media_type: 'audio/wav', object_key: 'rhine.wav' };
const isOpened = `return !document.getElementById('opened').hidden`;
const focus = `return document.activeElement.id`;

if (missing !== null) {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip(`The page of shares in a browser: ${missing}`, () => undefined);
} else {
  // The tests run one after the other, so that no browser waits for the start of another.
  test.serial(
    'A visitor who types the password sees the image, and the page loads nothing from other origins',
    async (t) => {
      const { browser, storage, visit } = await given(t);
      const { url } = await visit(image, png(3, 2), { maxUses: 2 });
      // Given the page: the field has a label and the focus, and the page shows nothing of the file
      t.is(await browser.run(focus), 'password');
      t.is(await browser.run(`return document.querySelector('label').control.id`), 'password');
      t.false(String(await browser.run(`return document.body.innerText`)).includes('Rhine'));
      // When the visitor submits an empty field, then a wrong password
      await browser.click('#open');
      await browser.until(
        `return document.querySelector('[role=alert]').textContent === 'Type the password.'`,
      );
      await browser.type('#password', 'wrong');
      await browser.click('#open');
      // Then the page announces the error, and the field has the focus again
      await browser.until(
        `return document.querySelector('[role=alert]').textContent === 'The password is wrong.'`,
      );
      t.is(await browser.run(focus), 'password');
      // The only console message is the browser's report of the status 401
      t.is((await browser.complaints()).length, 1);
      // When the visitor types the right password
      await browser.type('#password', `${sharePassword}\uE007`);
      await browser.until(isOpened);
      // Then the page shows the image, its name is text, and the heading has the focus
      await browser.until(`return document.querySelector('#media img').naturalWidth === 3`);
      t.is(await browser.run(`return document.querySelector('h1[tabindex]').textContent`), 'Rhine at <dawn>');
      t.is(await browser.run(`return document.querySelector('#media img').alt`), 'Rhine at <dawn>');
      t.is(await browser.run(focus), 'title');
      t.regex(
        String(await browser.run(`return document.getElementById('facts').textContent`)),
        /opens once more/,
      );
      const link = String(await browser.run(`return document.querySelector('#links a').href`));
      t.true(link.startsWith(`http://127.0.0.1:${storage.port}/rushes/rhine.png?`), link);
      t.true(link.includes('attachment'));
      // And no request went to another origin, the page stores nothing, and the policy blocks images from elsewhere
      const origins = await browser.run(
        `return [...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin))].sort()`,
      );
      t.deepEqual(origins, [`http://127.0.0.1:${storage.port}`, url].sort());
      const kept = `return [localStorage.length, sessionStorage.length, document.cookie]`;
      t.deepEqual(await browser.run(kept), [0, 0, '']);
      t.deepEqual(await browser.complaints(), []);
      await browser.run(
        `document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => { window.refused = effectiveDirective; });
       new Image().src = arguments[0];`,
        `${url.replace('127.0.0.1', 'localhost')}/elsewhere.png`,
      );
      await browser.until(`return window.refused === 'img-src'`);
    },
  );

  test.serial('The page fits a phone and a desktop screen', async (t) => {
    const { browser, visit } = await given(t);
    await visit(image, png(4_000, 3_000));
    const fits = `return document.documentElement.scrollWidth <= innerWidth && innerWidth === arguments[0]`;
    for (const width of [360, 1_400]) {
      await browser.resize(width, 800);
      t.true(await browser.run(fits, width), `the password, ${width}`);
    }
    await browser.type('#password', `${sharePassword}\uE007`);
    await browser.until(`return document.querySelector('#media img')?.naturalWidth === 4000`);
    for (const width of [360, 1_400]) {
      await browser.resize(width, 800);
      t.true(await browser.run(fits, width), `the image, ${width}`);
    }
  });

  test.serial('Sound continues on a fresh link when the old link is about to expire', async (t) => {
    const { browser, visit } = await given(t, { behindMs: 20 * 60_000 });
    await visit(sound, wav(20), { allowDownload: false });
    // The page records its links itself, because a slow machine may read the first link after its renewal.
    await browser.run(
      `window.links = [];
       new MutationObserver(() => {
         const link = document.querySelector('audio')?.src;
         if (link && link !== window.links.at(-1)) window.links.push(link);
       }).observe(document.body, { subtree: true, childList: true, attributes: true });
       const stand = ({ target }) => { target.currentTime = 7; };
       document.addEventListener('loadedmetadata', stand, { capture: true, once: true });`,
    );
    await browser.type('#password', `${sharePassword}\uE007`);
    // When the page has renewed the link, without the password
    await browser.until(`return window.links.length === 2`);
    t.true(String(await browser.run(`return window.links[0]`)).includes('inline'));
    // Then the playback position is unchanged
    await browser.until(`return document.querySelector('audio').duration === 20`);
    await browser.until(`return document.querySelector('audio').currentTime === 7`);
    t.is(await browser.run(`return document.querySelectorAll('#links a').length`), 0);
    t.true(await browser.run(isOpened));
    t.deepEqual(await browser.complaints(), []);
  });

  test.serial('A link that opens no share says so for any password', async (t) => {
    const { browser, visit } = await given(t);
    const { url } = await visit(image, png(3, 2));
    await browser.open(`${url}/s/${'x'.repeat(22)}`);
    await browser.type('#password', `${sharePassword}\uE007`);
    await browser.until(
      `return document.querySelector('[role=alert]').textContent.startsWith('This link does not work.')`,
    );
    t.false(await browser.run(isOpened));
  });
}

/** Makes a grey image. */
function png(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    checksum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, checksum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.writeUInt8(8, 8);
  const rows = Buffer.alloc((width + 1) * height);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const none = Buffer.alloc(0);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', none),
  ]);
}

/** Makes a silent sound. */
function wav(seconds: number): Buffer {
  const rate = 8_000;
  const samples = Buffer.alloc(seconds * rate, 0x80);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
