import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { ExecutionContext, TestFn } from 'ava';
import { z } from 'zod';
import { eventually } from '../eventually.js';
import axe from 'axe-core';
import { suite } from '../suite.js';

/** A headless browser, controlled by the WebDriver protocol (W3C). Every call has a time limit. */
export interface Browser {
  open(url: string): Promise<void>;
  /** Runs the body of a function in the page and returns its result. */
  run(script: string, ...parts: readonly (string | number)[]): Promise<unknown>;
  /** Types into the element like a person. */
  type(selector: string, text: string): Promise<void>;
  click(selector: string): Promise<void>;
  /** Resolves when the function returns true. */
  until(script: string): Promise<void>;
  resize(width: number, height: number): Promise<void>;
  /** Runs a command of the DevTools protocol and returns its result. */
  devTools(cmd: string, params: object): Promise<unknown>;
  /** Returns the browser's error messages since the last call: script errors and refused loads. */
  complaints(): Promise<readonly string[]>;
}

const callMsMax = 600_000;
const elementKey = 'element-6066-11e4-a52e-4f735466cecf';

/** Returns the missing programs as a sentence; null when a browser can run. */
export function missingBrowser(): string | null {
  const missing = ['chromium', 'chromedriver'].filter((name) => find(name) === null);
  return missing.length === 0 ? null : `there is no ${missing.join(' and no ')} in PATH`;
}

/** Declares tests that need a browser. */
export function browserSuite(test: TestFn, what: string, declare: () => void): void {
  suite(test, missingBrowser(), what, declare);
}

/** Starts a browser; it ends with the test. */
export async function givenBrowser(t: ExecutionContext): Promise<Browser> {
  const driver = spawn('chromedriver', ['--port=0'], { stdio: ['ignore', 'pipe', 'ignore'] });
  t.teardown(() => driver.kill('SIGKILL'));
  const url = `http://127.0.0.1:${await portOf(driver)}`;
  const { sessionId } = sessionSchema.parse(
    await call(`${url}/session`, {
      capabilities: {
        alwaysMatch: {
          browserName: 'chrome',
          'goog:loggingPrefs': { browser: 'ALL' },
          'goog:chromeOptions': {
            binary: find('chromium') ?? 'chromium',
            // Containers offer neither the rights of the sandbox nor shared memory.
            args: [
              '--headless=new',
              '--no-sandbox',
              '--disable-dev-shm-usage',
              '--disable-gpu',
              '--mute-audio',
            ],
          },
        },
      },
    }),
  );
  const session = `${url}/session/${sessionId}`;
  t.teardown(() => call(session, null, 'DELETE').catch(() => undefined));

  const run: Browser['run'] = (script, ...parts) => call(`${session}/execute/sync`, { script, args: parts });
  const element = async (selector: string): Promise<string> => {
    const found = await call(`${session}/element`, { using: 'css selector', value: selector });
    return `${session}/element/${elementSchema.parse(found)[elementKey]}`;
  };
  /** Waits until an element stays where it is. A click goes to a place, and a page that grows moves its elements. */
  const settledPlace = async (selector: string): Promise<void> => {
    const place = (): Promise<unknown> =>
      run(
        `const place = document.querySelector(arguments[0])?.getBoundingClientRect();
         return place === undefined ? null : place.x + ',' + place.y;`,
        selector,
      );
    let [before, now]: unknown[] = [];
    await eventually(
      `${selector} stays where it is`,
      async () => {
        [before, now] = [now, await place()];
        return before === now;
      },
      { pollMs: 50 },
    );
  };
  return {
    run,
    open: async (page) => {
      await call(`${session}/url`, { url: page });
    },
    type: async (selector, text) => {
      await call(`${await element(selector)}/value`, { text });
    },
    click: async (selector) => {
      await settledPlace(selector);
      await call(`${await element(selector)}/click`, {});
    },
    until: async (script) => {
      await eventually(script, async () => (await run(script)) === true, { pollMs: 50 });
    },
    resize: async (width, height) => {
      // A real window is never as narrow as a phone.
      const params = { width, height, deviceScaleFactor: 1, mobile: width < 600 };
      await call(`${session}/goog/cdp/execute`, { cmd: 'Emulation.setDeviceMetricsOverride', params });
    },
    devTools: (cmd, params) => call(`${session}/goog/cdp/execute`, { cmd, params }),
    complaints: async () => {
      const entries = logSchema.parse(await call(`${session}/se/log`, { type: 'browser' }));
      return entries.filter(({ level }) => level === 'SEVERE').map(({ message }) => message);
    },
  };
}

const sessionSchema = z.object({ sessionId: z.string() });
const elementSchema = z.object({ [elementKey]: z.string() });
const logSchema = z.array(z.object({ level: z.string(), message: z.string() }));
const replySchema = z.object({ value: z.unknown() });

async function call(url: string, body: object | null, method = 'POST'): Promise<unknown> {
  const response = await fetch(url, {
    method,
    signal: AbortSignal.timeout(callMsMax),
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  });
  const { value } = replySchema.parse(await response.json());
  if (!response.ok) throw new Error(`the browser refused: ${JSON.stringify(value).slice(0, 500)}`);
  return value;
}

/** Returns the port that the driver reports. */
function portOf(driver: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: driver.stdout }).on('line', (line) => {
      const port = /successfully on port (\d+)/.exec(line)?.[1];
      if (port !== undefined) resolve(port);
    });
    driver.once('exit', () => reject(new Error('the driver ended before it listened')));
  });
}

function find(program: string): string | null {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(directory, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // The program is not in this directory.
    }
  }
  return null;
}

/** The browser of a visitor. */
export interface Visitor {
  readonly width: number;
  readonly height: number;
  /** The field `Accept-Language`. */
  readonly languages: string;
  readonly timeZone: string;
  readonly isDark: boolean;
}

/** A visitor with a screen as most have it. */
export const desktop: Visitor = {
  ...{ width: 1_280, height: 800, languages: 'en-GB,en' },
  ...{ timeZone: 'Europe/London', isDark: false },
};

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
