/* Tests the page that opens shares in a real browser: Chromium, controlled by WebDriver. */
import test, { type ExecutionContext } from 'ava';
import type { AssetDescription } from '../../src/areas/assets/domain/asset/events.js';
import { projectAggregate } from '../../src/areas/projects/domain/project/project.js';
import type { CreateShareInput } from '../../src/areas/shares/commands/sharing.js';
import { eventually } from '../support/eventually.js';
import { type FakeStorage, givenFakeStorage } from '../support/fakes/fake-storage.js';
import { appendEvents } from '../support/given/append-events.js';
import {
  addAsset,
  givenAsset,
  givenShare,
  nextContext,
  sharePassword,
} from '../support/given/given-share.js';
import { givenInProcess } from '../support/servers/service-in-process.js';
import { makePdf, makePng, makeWav } from '../support/examples/media-files.js';
import { realClock } from '../support/fakes/clock.js';
import { type Browser, givenBrowser, browserSuite } from '../support/clients/browser.js';

/** Returns the script after which the page gets other files: `change` reads `path`, `json` and the `first` file, and sets `json`. */
const changeReplies = (change: string): string => `const send = window.fetch;
  window.fetch = async (path, init) => {
    const reply = await send(path, init);
    if (!reply.ok || init.method !== 'POST') return reply;
    const json = await reply.json();
    const [first] = json.data.assets;
    ${change}
    return Response.json(json);
  };`;

interface Scene {
  readonly browser: Browser;
  readonly storage: FakeStorage;
  /** Shares a file and opens its page in the browser. */
  readonly visit: (
    file: Pick<AssetDescription, 'media_type' | 'object_key'>,
    content: Buffer,
    terms?: Partial<CreateShareInput>,
  ) => Promise<{
    readonly url: string;
    readonly page: string;
    /** The counts of the share. */
    readonly counts: () => Promise<{ readonly views: number; readonly downloads: number }>;
    readonly switchStorage: (to: 'disableStorage' | 'enableStorage') => Promise<unknown>;
  }>;
}

async function given(t: ExecutionContext, { behindMs = 0 } = {}): Promise<Scene> {
  const storage = await givenFakeStorage(t);
  // The clock of the service is behind until the browser has fetched the file. So the browser takes all earlier links
  // for expired.
  const isBehind = (): boolean => !storage.requests.some((request) => request.startsWith('GET'));
  const now = (): Date => new Date(Date.now() - (isBehind() ? behindMs : 0));
  const service = await givenInProcess(t, {
    environment: { STORAGE_ALLOWED_CIDRS: '127.0.0.0/8' },
    clock: { ...realClock, now },
  });
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
      if (terms.password === null) {
        const project = { aggregate: projectAggregate, id: place.projectId };
        const allowed = [{ type: 'OpenSharesChanged', data: { open_shares: true } }] as const;
        await appendEvents(services.handler, project, allowed, new Date());
      }
      const { id, token } = await givenShare(services, { ...place, assetId }, terms);
      const page = `${url}/s/${token}`;
      await browser.open(page);
      const counts = async () => {
        const found = await services.readers.shares.find(place.projectId, id);
        return { views: found?.resource.views ?? -1, downloads: found?.resource.downloads ?? -1 };
      };
      return {
        ...{ url, page, counts },
        switchStorage: (to) => services.commands[to](place, nextContext(services)),
      };
    },
  };
}

const image = { media_type: 'image/png', object_key: 'rhine.png' };
const sound = { media_type: 'audio/wav', object_key: 'rhine.wav' };
const isOpened = `return !document.getElementById('opened').hidden`;
const focus = `return document.activeElement.id`;

browserSuite(test, 'The page of shares in a browser', () => {
  // The tests run one after the other, so that no browser waits for the start of another.
  test.serial(
    'A visitor who types the password sees the image, and the page loads nothing from other origins',
    async (t) => {
      const { browser, storage, visit } = await given(t);
      const { url } = await visit(image, makePng(3, 2), { max_uses: 2 });
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
      await browser.complaints();
      // When the visitor types the right password
      await browser.type('#password', `${sharePassword}\uE007`);
      await browser.until(isOpened);
      // Then the page shows the image, its name is text, and the heading has the focus
      await browser.until(`return document.querySelector('#stage img').naturalWidth === 3`);
      t.is(await browser.run(`return document.getElementById('title').textContent`), 'Rhine at <dawn>');
      t.is(await browser.run(`return document.querySelector('#stage img').alt`), 'Rhine at <dawn>');
      t.is(await browser.run(focus), 'title');
      t.regex(
        String(await browser.run(`return document.getElementById('facts').textContent`)),
        /can be opened 1 more time/,
      );
      const link = String(await browser.run(`return document.querySelector('#actions a').href`));
      t.true(link.startsWith(`http://127.0.0.1:${storage.port}/rushes/rhine.png?`), link);
      t.true(link.includes('attachment'));
      // And no request went to another origin, the page stores nothing, and the policy blocks images from elsewhere
      const origins = await browser.run(
        `return [...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin))].sort()`,
      );
      t.deepEqual(origins, [`http://127.0.0.1:${storage.port}`, url].sort());
      const kept = `return [localStorage.length, Object.values(sessionStorage).join().includes('http'), document.cookie]`;
      t.deepEqual(await browser.run(kept), [0, false, '']);
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
    await visit(image, makePng(4_000, 3_000));
    const fits = `return document.documentElement.scrollWidth <= innerWidth && innerWidth === arguments[0]`;
    for (const width of [360, 1_400]) {
      await browser.resize(width, 800);
      t.true(await browser.run(fits, width), `the password, ${width}`);
    }
    await browser.type('#password', `${sharePassword}\uE007`);
    await browser.until(`return document.querySelector('#stage img')?.naturalWidth === 4000`);
    for (const width of [360, 1_400]) {
      await browser.resize(width, 800);
      t.true(await browser.run(fits, width), `the image, ${width}`);
    }
  });

  test.serial('Sound continues on a fresh link when the old link is about to expire', async (t) => {
    const { browser, visit } = await given(t, { behindMs: 20 * 60_000 });
    await visit(sound, makeWav(20), { allow_download: false });
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
    t.is(await browser.run(`return document.querySelectorAll('#actions a').length`), 0);
    t.true(await browser.run(isOpened));
  });

  test.serial(
    'A visitor of a share without a password is asked for none when the session ends',
    async (t) => {
      const { browser, visit } = await given(t, { behindMs: 20 * 60_000 });
      const { counts } = await visit(image, makePng(3, 2), { password: null, max_uses: 2 });
      const isAsked = `return !document.getElementById('again').hidden && document.activeElement.id === 'notice-heading'`;
      await browser.until(isAsked);
      // Given a visitor whose session ends while the page is open
      await browser.run(
        `const send = window.fetch;
       window.fetch = async (path, init) => {
         if (path.endsWith('/media')) return Response.json({ code: 'invalid_credentials' }, { status: 401 });
         const reply = await send(path, init);
         if (!window.loses || !path.endsWith('/verify')) return reply;
         window.loses = false;
         throw new TypeError('the connection broke');
       };`,
      );
      await browser.click('#again');
      await browser.until(isOpened);
      // Then the page asks as before, because another opening counts, and for no password
      await browser.until(`return document.getElementById('opened').hidden`);
      await browser.until(isAsked);
      t.true(await browser.run(`return document.getElementById('ask').hidden`));
      // And when the reply to the last opening is lost, then another attempt gets it
      await browser.run(`window.loses = true`);
      await browser.click('#again');
      await browser.until(`return document.getElementById('again').textContent === 'Try again'`);
      await browser.click('#again');
      await browser.until(isOpened);
      await eventually('the share counts both openings', async () => (await counts()).views === 2);
    },
  );

  test.serial('A renewal reaches the tiles that are far below the screen, and keeps the focus', async (t) => {
    const { browser, visit } = await given(t, { behindMs: 20 * 60_000 });
    await visit(image, makePng(3, 2));
    await browser.resize(360, 640);
    // Given a share of many files, and a visitor whose focus is on the link that saves the first
    await browser.run(
      `${changeReplies(`
         json.data.assets = Array.from({ length: 50 }, (_, n) => {
           const media = first.media.map((one) => ({ ...one, url: one.url + '#' + n }));
           return { ...first, id: 'file ' + n, media };
         });
         window.first ??= json.data.assets[0].media[0].url;
         if (path.endsWith('/media')) window.fresh = json.data.assets[0].media[0].url;`)}
       const watch = setInterval(() => {
         const link = document.querySelector('#actions a');
         if (link === null) return;
         link.focus();
         clearInterval(watch);
       }, 10);`,
    );
    await browser.type('#password', `${sharePassword}\uE007`);
    // When the page has renewed the links
    await browser.until(
      `return window.fresh !== undefined && document.querySelector('#actions a')?.href === window.fresh`,
    );
    // Then the last tile, which has not loaded, has a fresh link, and the focus is where it was
    t.not(await browser.run(`return window.fresh`), await browser.run(`return window.first`));
    t.is(
      await browser.run(`return document.querySelector('#gallery li:last-child img').src`),
      await browser.run(`return window.fresh.replace('#0', '#49')`),
    );
    t.true(await browser.run(`return document.activeElement === document.querySelector('#actions a')`));
  });

  test.serial('A file that leaves the share leaves its open page at the next renewal', async (t) => {
    const { browser, visit } = await given(t, { behindMs: 20 * 60_000 });
    await visit(image, makePng(3, 2));
    // Given a share of two files, which then loses the first
    await browser.run(
      changeReplies(`
         const second = { ...first, id: 'second', name: 'Second' };
         json.data.assets = path.endsWith('/verify') ? [first, second] : [second];`),
    );
    await browser.type('#password', `${sharePassword}\uE007`);
    // Then the page shows the other one alone
    await browser.until(`return document.querySelector('#stage img')?.alt === 'Second'`);
    t.true(await browser.run(`return document.getElementById('files').hidden`));
    t.is(await browser.run(`return document.querySelectorAll('#gallery button').length`), 0);
  });

  test.serial('A reload keeps the session of a share that opens once', async (t) => {
    const { browser, visit } = await given(t);
    const { page, switchStorage } = await visit(image, makePng(3, 2), { max_uses: 1 });
    await browser.type('#password', `${sharePassword}\uE007`);
    await browser.until(isOpened);
    // When the visitor reloads the page, whose link opens nothing more
    await browser.open(page);
    // Then it shows the image again, with the name of its project and with URLs that the tab did not keep
    await browser.until(`return document.querySelector('#stage img')?.naturalWidth === 3`);
    t.is(await browser.run(`return document.getElementById('project').textContent`), 'Rivers');
    t.true(await browser.run(`return document.getElementById('ask').hidden`));
    // And a reload whose renewal fails asks the visitor to try again, and keeps the session
    await browser.devTools('Network.enable', {});
    await browser.devTools('Network.setBlockedURLs', { urls: ['*/media'] });
    await browser.open(page);
    await browser.until(`return document.activeElement.id === 'notice-heading'`);
    await browser.devTools('Network.setBlockedURLs', { urls: [] });
    await browser.click('#again');
    await browser.until(`return document.querySelector('#stage img')?.naturalWidth === 3`);
    // And so does a reload while the storage is disabled: the next one shows the image
    await switchStorage('disableStorage');
    await browser.open(page);
    await browser.until(`return document.activeElement.id === 'notice-heading'`);
    await switchStorage('enableStorage');
    await browser.open(page);
    await browser.until(`return ['notice-heading', 'title'].includes(document.activeElement.id)`);
    t.true(await browser.run(isOpened));
    // And another tab does not open the share
    await browser.run(`sessionStorage.clear()`);
    await browser.open(page);
    await browser.until(`return document.activeElement.id === 'notice-heading'`);
  });

  test.serial(
    'A PDF that may be saved is framed by a URL that shows it, and its button saves it',
    async (t) => {
      const { browser, visit } = await given(t);
      await visit({ media_type: 'application/pdf', object_key: 'sheet.pdf' }, makePdf('Day 12'));
      await browser.resize(1_280, 800);
      await browser.type('#password', `${sharePassword}\uE007`);
      await browser.until(
        `return document.querySelector('#stage.document:not(.is-loading) iframe') !== null`,
      );
      const url = `return new URL(document.querySelector(arguments[0])[arguments[1]]).searchParams.get('response-content-disposition')`;
      t.regex(String(await browser.run(url, '#stage iframe', 'src')), /^inline;/);
      t.regex(String(await browser.run(url, '#actions a', 'href')), /^attachment;/);
      t.deepEqual(await browser.complaints(), []);
    },
  );

  test.serial('A browser that cannot split a text into its characters opens the share as well', async (t) => {
    const { browser, visit } = await given(t);
    const { page } = await visit(image, makePng(3, 2));
    // Given Firefox before version 125, and a language of the browser that is no tag of BCP 47
    const source = `delete Intl.Segmenter;
      Object.defineProperty(navigator, 'languages', { value: ['en-US@posix'] });`;
    await browser.devTools('Page.addScriptToEvaluateOnNewDocument', { source });
    await browser.open(page);
    await browser.until(`return document.activeElement.id === 'password'`);
    t.is(await browser.run(`return document.getElementById('mark').textContent`), 'R');
    await browser.type('#password', `${sharePassword}\uE007`);
    await browser.until(isOpened);
    t.deepEqual(await browser.complaints(), []);
  });

  test.serial('The facts keep their order behind a name that is written from right to left', async (t) => {
    const { browser, visit } = await given(t);
    await visit(image, makePng(3, 2));
    await browser.run(
      `const send = window.fetch;
       window.fetch = async (path, init) => {
         const reply = await send(path, init);
         if (!path.endsWith('/verify')) return reply;
         const json = await reply.json();
         const [first] = json.data.assets;
         json.data.share.sender = 'أحمد';
         json.data.assets = [first, { ...first, id: 'second' }];
         return Response.json(json);
       };`,
    );
    await browser.type('#password', `${sharePassword}\uE007`);
    await browser.until(isOpened);
    // Then each fact stands behind the one before it
    const leftOf = (text: string): string =>
      `const walker = document.createTreeWalker(document.getElementById('facts'), NodeFilter.SHOW_TEXT);
       for (let node = walker.nextNode(); node; node = walker.nextNode()) {
         const at = node.data.indexOf('${text}');
         if (at < 0) continue;
         const range = document.createRange();
         range.setStart(node, at);
         range.setEnd(node, at + ${text.length});
         return range.getBoundingClientRect().left;
       }`;
    const [name, count] = [await browser.run(leftOf('أحمد')), await browser.run(leftOf('2'))];
    t.true(Number(name) < Number(count), `${String(name)} ${String(count)}`);
  });

  test.serial('The link that saves a file reports each download once in a session', async (t) => {
    const { browser, visit } = await given(t);
    const { counts } = await visit(image, makePng(3, 2));
    await browser.type('#password', `${sharePassword}\uE007`);
    await browser.until(`return document.querySelector('#stage img')?.naturalWidth === 3`);
    // The page records the requests that report downloads
    await browser.run(
      `window.reports = [];
       const send = window.fetch;
       window.fetch = async (path, init) => {
         const reply = await send(path, init);
         if (JSON.parse(init?.body ?? '{}').download) window.reports.push(reply.status);
         return reply;
       };`,
    );
    // When the visitor saves the file twice
    for (const reports of [1, 2]) {
      await browser.click('#actions a');
      await browser.until(`return window.reports.length === ${reports}`);
    }
    // Then the share has one opening and one download
    t.deepEqual(await browser.run(`return window.reports`), [200, 200]);
    await eventually('the share counts a download', async () => (await counts()).downloads === 1);
    t.deepEqual(await counts(), { views: 1, downloads: 1 });
    t.deepEqual(await browser.complaints(), []);
  });

  test.serial('A link that opens no share says so before any password', async (t) => {
    const { browser, visit } = await given(t);
    const { url } = await visit(image, makePng(3, 2));
    await browser.open(`${url}/s/${'x'.repeat(22)}`);
    await browser.until(`return document.activeElement.id === 'notice-heading'`);
    t.is(await browser.run(`return document.activeElement.textContent`), 'This link does not work');
    t.true(await browser.run(`return document.getElementById('ask').hidden`));
    t.false(await browser.run(isOpened));
  });
});
