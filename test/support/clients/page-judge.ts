import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { z } from 'zod';
import type { Browser } from './web-driver.js';

/** The browser of a visitor. */
export interface Visitor {
  readonly width: number;
  readonly height: number;
  /** The field `Accept-Language`. */
  readonly languages: string;
  readonly timeZone: string;
  readonly isDark: boolean;
}

/** Makes the browser behave as the visitor's. */
export async function behaveAs(browser: Browser, visitor: Visitor): Promise<void> {
  const userAgent = z.string().parse(await browser.run(`return navigator.userAgent`));
  await browser.resize(visitor.width, visitor.height);
  await browser.devTools('Network.setUserAgentOverride', { userAgent, acceptLanguage: visitor.languages });
  await browser.devTools('Emulation.setTimezoneOverride', { timezoneId: visitor.timeZone });
  const value = visitor.isDark ? 'dark' : 'light';
  await browser.devTools('Emulation.setEmulatedMedia', {
    features: [{ name: 'prefers-color-scheme', value }],
  });
}

const violations = z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) }));

/** Returns the rules of axe that the shown page breaks, each with the first element that breaks it. */
export async function brokenRules(browser: Browser): Promise<readonly string[]> {
  if ((await browser.run(`return typeof axe`)) !== 'object') await browser.run(axe.source);
  const found = await browser.run(
    `return axe.run(document, { iframes: false, resultTypes: ['violations'] }).then(({ violations }) => violations);`,
  );
  return violations.parse(found).map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`);
}

/** Returns the widths, of those from a small phone to a desktop, at which the shown page is wider than the screen. */
export async function overflowingWidths(
  browser: Browser,
  { width, height }: Visitor,
): Promise<readonly number[]> {
  const found: number[] = [];
  for (const tried of [320, 360, 390, 600, 641, 768, 1_024, 1_280, 1_920]) {
    await browser.resize(tried, height);
    const fits = await browser.run(`return document.documentElement.scrollWidth <= arguments[0]`, tried);
    if (fits !== true) found.push(tried);
  }
  await browser.resize(width, height);
  return found;
}

/** Writes a picture of the screen to the folder that `SCREENSHOTS_DIR` names, `dist/screenshots` when it names none. */
export async function keepScreenshot(browser: Browser, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS_DIR'] ?? join('dist', 'screenshots');
  const { data } = z.object({ data: z.string() }).parse(await browser.devTools('Page.captureScreenshot', {}));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.png`), Buffer.from(data, 'base64'));
}
