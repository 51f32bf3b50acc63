/* Tests the pages / and /docs in a real browser: Chromium, controlled by WebDriver. */
import test, { type ExecutionContext } from 'ava';
import {
  desktop,
  brokenRules,
  overflowingWidths,
  type Browser,
  givenBrowser,
  browserSuite,
} from '../support/clients/browser.js';
import { givenInProcess } from '../support/servers/service-in-process.js';

/** Returns a script that clicks the last visible button with the text, in the section with the other text, if one exists. */
const press = (text: string, inside = ''): string => `
  const [text, inside] = ${JSON.stringify([text, inside])};
  const found = [...document.querySelectorAll('button')].filter(
    (button) =>
      button.checkVisibility() &&
      new RegExp(text, 'i').test(button.innerText) &&
      (button.closest('section')?.innerText ?? '').includes(inside),
  );
  found.at(-1)?.click();
  return found.length > 0;`;

/** Fills `violations` from the first moment of each page on. */
const watch = `
  window.violations = [];
  document.addEventListener('securitypolicyviolation', (event) =>
    window.violations.push(event.effectiveDirective + ' ' + event.blockedURI + ' ' + event.sourceFile + ':' + event.lineNumber),
  );`;

/** Tries in each frame to follow a link of the list to an operation. The page is usable when the link works. */
const waitUntilUsable = `
  const tryLink = () => {
    const link = [...document.querySelectorAll('a')].find(({ href }) => href.endsWith('/api/v1/auth/register'));
    link?.click();
    if (location.hash.endsWith('/api/v1/auth/register')) window.usableAt = performance.now();
    else requestAnimationFrame(tryLink);
  };
  requestAnimationFrame(tryLink);`;

interface Scene {
  readonly browser: Browser;
  readonly url: string;
  readonly open: () => Promise<void>;
  /** Opens the form that sends requests, of the operation with the path. */
  readonly tryOut: (tag: string, operation: string) => Promise<void>;
  /** Sends the request, and waits until the form shows the text. */
  readonly send: (shown: string) => Promise<void>;
  /** Returns what the policy of the page refused. The reader's check whether it may evaluate code is no loss. */
  readonly refused: () => Promise<readonly string[]>;
}

async function given(t: ExecutionContext): Promise<Scene> {
  const service = await givenInProcess(t);
  const browser = await givenBrowser(t);
  await browser.devTools('Page.enable', {});
  await browser.devTools('Page.addScriptToEvaluateOnNewDocument', { source: watch });
  await browser.resize(1_300, 900);
  const { url } = service;
  return {
    browser,
    url,
    open: async () => {
      // Another page first: a link within the page would not load it again.
      await browser.open('about:blank');
      await browser.open(`${url}/docs`);
      await browser.until(`return /Stowage/.test(document.querySelector('.scalar-app h1')?.innerText ?? '')`);
    },
    tryOut: async (tag, operation) => {
      await browser.run(`location.hash = arguments[0]`, `#tag/${tag}/${operation}`);
      const path = operation.slice(operation.indexOf('/'));
      await browser.until(press('test request', path));
      await browser.until(`return ${form}.includes(${JSON.stringify(path)})`);
    },
    send: async (shown) => {
      await browser.until(press('^\\s*send'));
      await browser.until(`return ${form}.includes(${JSON.stringify(shown)})`);
      await browser.until(press('close client'));
      await browser.until(`return ${form} === ''`);
    },
    refused: async () => {
      const violations = (await browser.run(`return window.violations`)) as readonly string[];
      return violations.filter((one) => !one.startsWith('script-src eval '));
    },
  };
}

/** What the form that sends requests shows; nothing while it is closed. */
const form = `(document.querySelector('.scalar-app-layout')?.innerText ?? '')`;

const allRequests = `return [...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin))]`;

browserSuite(test, 'The page /docs in a browser', () => {
  test.serial(
    'A reader searches the operations and reads code samples, without another origin',
    async (t) => {
      const { browser, url, open, refused } = await given(t);
      await open();
      // When the reader searches for an operation
      await browser.until(press('open search'));
      await browser.until(`return document.querySelector('input[type=search]') !== null`);
      await browser.type('input[type=search]', 'refresh token');
      await browser.until(
        `return [...document.querySelectorAll('[role=option]')].some((option) => option.innerText.includes('/api/v1/auth/refresh'))`,
      );
      await browser.run(
        `[...document.querySelectorAll('[role=option]')].find((option) => option.innerText.includes('/api/v1/auth/refresh')).click()`,
      );
      await browser.until(`return location.hash.includes('/auth/refresh')`);
      // Then the page shows a sample of the call, also in another language
      const sample = `[...document.querySelectorAll('code, pre')].map((code) => code.innerText).join(' ')`;
      await browser.until(`return ${sample}.includes('curl ')`);
      await browser.until(
        `const tab = [...document.querySelectorAll('[role=tab]')].find((one) => one.innerText.trim() === 'Python');
       tab?.setAttribute('id', 'python'); return tab !== undefined`,
      );
      await browser.click('#python');
      await browser.until(`return document.querySelector('code.language-python') !== null`);
      t.deepEqual(await browser.run(allRequests), [url]);
      t.deepEqual(await refused(), []);
      t.deepEqual(await browser.complaints(), []);
    },
  );

  test.serial('The pages / and /docs say where to go before any script has loaded', async (t) => {
    const { browser, url, refused } = await given(t);
    await browser.devTools('Network.enable', {});
    await browser.devTools('Network.setBlockedURLs', { urls: ['*/docs/reader/*'] });
    for (const [path, words] of [
      ['/', ['replayed and proven', 'npm run example']],
      ['/docs', ['Five calls', 'POST /api/v1/auth/register', '/shares']],
    ] as const) {
      await browser.open(`${url}${path}`);
      const text = String(await browser.run(`return document.body.innerText`));
      for (const word of words) t.true(text.includes(word), `${path}: ${word}`);
      t.deepEqual(await brokenRules(browser), [], `${path}: axe`);
      t.deepEqual(await overflowingWidths(browser, desktop), [], path);
      const links = (await browser.run(`return [...document.links].map(({ href }) => href)`)) as string[];
      t.true(links.length > 0);
      for (const link of links) t.is((await fetch(link)).status, 200, link);
      t.deepEqual(await browser.run(allRequests), path === '/' ? [] : [url]);
    }
    t.deepEqual(await refused(), []);
    // When the reader of /docs has loaded, then its document begins with the same calls
    await browser.devTools('Network.setBlockedURLs', { urls: [] });
    await browser.open(`${url}/docs`);
    await browser.until(
      `return document.querySelector('.scalar-app ol')?.innerText.includes('/auth/register') === true`,
    );
    t.is(await browser.run(`return document.querySelector('.first')`), null);
  });

  test.serial('The page sends requests to this service, and its editors have their style', async (t) => {
    const { browser, url, open, tryOut, send, refused } = await given(t);
    // The text of the editors' style sheets depends on the order in which they open
    await open();
    await tryOut('service', 'GET/healthz');
    await send('"ok"');
    await tryOut('accounts', 'POST/api/v1/auth/register');
    await send('201');
    t.deepEqual(await refused(), []);
    await open();
    await tryOut('accounts', 'POST/api/v1/auth/register');
    await send('409');
    await tryOut('service', 'GET/api/v1');
    await send('password_rules');
    t.deepEqual(await refused(), []);
    const unstyled = `return [...document.querySelectorAll('style')].filter(({ sheet }) => sheet === null).length`;
    t.is(await browser.run(unstyled), 0);
    t.deepEqual(await browser.run(allRequests), [url]);
  });

  test.serial('The page is dark where the reader prefers it, and a switch changes it', async (t) => {
    const { browser, open, refused } = await given(t);
    const features = [{ name: 'prefers-color-scheme', value: 'dark' }];
    await browser.devTools('Emulation.setEmulatedMedia', { features });
    await open();
    const brightness = `getComputedStyle(document.querySelector('.scalar-app')).getPropertyValue('--scalar-background-1')`;
    await browser.until(`return document.body.classList.contains('dark-mode')`);
    const dark = await browser.run(`return ${brightness}`);
    await browser.until(`const toggle = document.querySelector('[aria-label*="ark"], [aria-label*="ight mode"], .darklight-reference button');
      toggle?.click(); return toggle !== null`);
    await browser.until(`return document.body.classList.contains('light-mode')`);
    t.not(await browser.run(`return ${brightness}`), dark);
    t.deepEqual(await refused(), []);
  });

  test.serial('The page does not scroll sideways on a phone', async (t) => {
    const { browser, open } = await given(t);
    await browser.resize(390, 844);
    await open();
    // When the reader scrolls through all of it
    const step = `scrollBy(0, 3 * innerHeight); return scrollY + innerHeight + 1 >= document.documentElement.scrollHeight`;
    const widths = new Set<unknown>();
    for (let steps = 0, isEnd = false; !isEnd && steps < 400; steps += 1) {
      isEnd = (await browser.run(step)) === true;
      widths.add(await browser.run(`return Math.max(document.documentElement.scrollWidth, innerWidth)`));
    }
    t.deepEqual([...widths], [390]);
  });

  test.serial('The page shows the operations of the service, from few bytes', async (t) => {
    const { browser, open } = await given(t);
    await browser.devTools('Page.addScriptToEvaluateOnNewDocument', { source: waitUntilUsable });
    await open();
    await browser.until('return window.usableAt !== undefined');
    const [shownMs, usableMs, bytes] = (await browser.run(
      `const [page] = performance.getEntriesByType('navigation');
       const shown = performance.getEntriesByName('first-contentful-paint')[0].startTime - page.responseStart;
       const all = performance.getEntriesByType('resource').reduce((sum, { transferSize }) => sum + transferSize, 0);
       return [shown, window.usableAt - page.responseStart, all + page.transferSize];`,
    )) as [number, number, number];
    const times = `first byte to shown: ${Math.ceil(shownMs)} ms; to usable: ${Math.ceil(usableMs)} ms`;
    t.log(`${times}; ${bytes} bytes`);
    t.true(bytes < 1_500_000, String(bytes));
  });
});
