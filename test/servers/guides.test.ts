/* Tests the guides, which `npm run docs:site` builds, in a real browser: Chromium, controlled by WebDriver. */
import test from 'ava';
import { openPackedFolder } from '../../src/http/pages/prepare-page.js';
import {
  desktop,
  behaveAs,
  brokenRules,
  keepScreenshot,
  overflowingWidths,
  givenBrowser,
  missingBrowser,
} from '../support/clients/browser.js';
import { givenInProcess } from '../support/servers/service-in-process.js';
import { suite } from '../support/suite.js';

const folder = openPackedFolder('guides');
const missing = folder.exists ? missingBrowser() : 'npm run docs:site has not built them';
suite(test, missing, 'The guides in a browser', () => {
  test('A reader finds a page by its words, and no page asks another origin, overflows or breaks a rule of axe', async (t) => {
    const service = await givenInProcess(t);
    const { url } = service;
    const { files } = folder.manifest() as { readonly files: Readonly<Record<string, unknown>> };
    const pages = Object.keys(files).filter((name) => name.endsWith('.html') && name !== '404.html');
    t.true(pages.length > 25, String(pages));
    const browser = await givenBrowser(t);
    await behaveAs(browser, desktop);
    await browser.devTools('Page.enable', {});
    await browser.devTools('Page.addScriptToEvaluateOnNewDocument', {
      source: `window.refused = [];
        document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => window.refused.push(effectiveDirective + ' ' + blockedURI));`,
    });
    const problems: Record<string, unknown> = {};
    for (const name of pages) {
      await browser.open(`${url}/guides/${name.replace(/(index)?\.html$/, '')}`);
      await browser.until(`return document.querySelector('#app')?.__vue_app__ !== undefined`);
      const origins = `return [...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin))]`;
      const found = [
        await browser.run(`return window.refused`),
        ((await browser.run(origins)) as string[]).filter((origin) => origin !== url),
        await overflowingWidths(browser, desktop),
        await brokenRules(browser),
        await browser.complaints(),
      ].flat();
      if (found.length > 0) problems[name] = found;
    }
    t.deepEqual(problems, {});
    // When the reader searches for words of a page
    await browser.open(`${url}/guides/`);
    await browser.until(`return document.querySelector('#local-search button') !== null`);
    await keepScreenshot(browser, 'guides');
    await browser.click('#local-search button');
    await browser.until(`return document.querySelector('#localsearch-input') !== null`);
    await browser.type('#localsearch-input', 'StowageMailWaits');
    await browser.until(
      `return document.querySelector('.result')?.href.includes('/guides/trouble-shooting') === true`,
    );
    await browser.type('#localsearch-input', '\uE007');
    await browser.until(`return location.pathname === '/guides/trouble-shooting'`);
    // Then the address works without the page before, in Chinese too, and one that is no page is refused
    for (const [path, status] of [
      ['/guides', 200],
      ['/guides/zh', 200],
      ['/guides/trouble-shooting', 200],
      ['/guides/payments/', 200],
      ['/guides/nothing', 404],
      ['/guides/..%2Fcli.js', 404],
      ['/guides/manifest.json', 404],
    ] as const)
      t.is((await fetch(`${url}${path}`)).status, status, path);
  });
});
