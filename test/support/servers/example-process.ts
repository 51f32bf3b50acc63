import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ExecutionContext } from 'ava';
import type { Browser } from '../clients/browser.js';
import { eventually } from '../eventually.js';

/** The example as a started program, with all that it starts, in a process group as in a terminal. */
export interface ExampleProcess {
  /** Resolves with the exit code when all processes have ended. */
  readonly ended: Promise<number | null>;
  readonly signal: (name: 'SIGTERM') => void;
  /** Sends Ctrl-C to all processes. */
  readonly interrupt: () => void;
  /** Waits until the output contains the pattern, and returns its first group. */
  readonly outputUntil: (pattern: RegExp) => Promise<string>;
}

/** Returns the first of three free ports in a row. */
export function freePorts(): number {
  return Number(execFileSync(process.execPath, ['scripts/free-port.mjs', '3'], { encoding: 'utf8' }));
}

/** Starts a command that runs the example. What is left of it ends with the test. */
export function startExample(
  t: ExecutionContext,
  [program, ...args]: readonly [string, ...string[]],
  { cwd = '.', ...settings }: Readonly<Record<string, string>> & { readonly cwd?: string },
): ExampleProcess {
  const child = spawn(program, args, {
    cwd,
    // The example runs on embedded stores, also where the suites have other servers.
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  let hasEnded = false;
  const ended = once(child, 'close').then(([code]) => {
    hasEnded = true;
    return code as number | null;
  });
  const signalGroup = (name: 'SIGINT' | 'SIGKILL'): void => {
    if (child.pid === undefined) throw new Error('the example did not start');
    process.kill(-child.pid, name);
  };
  t.teardown(async () => {
    if (!hasEnded) signalGroup('SIGKILL');
    await ended;
  });
  return {
    ended,
    signal: (name) => child.kill(name),
    interrupt: () => signalGroup('SIGINT'),
    outputUntil: (pattern) =>
      eventually(
        () => `the output has ${String(pattern)}: ${output.slice(-2_000)}`,
        () => pattern.exec(output)?.[1],
        { pid: child.pid },
      ),
  };
}

/** Waits until the page shows a step. */
export async function stepShown(browser: Browser, step: string): Promise<void> {
  await browser.until(`return document.getElementById('${step}')?.hidden === false`);
}

/**
 * Clicks the five buttons of the example, from the sign-up to the share.
 * @param look runs at each step before its click
 * @returns the address of the share
 */
export async function clickThrough(
  browser: Browser,
  look: (step: string) => Promise<void> = () => Promise.resolve(),
): Promise<string> {
  for (const step of ['account', 'project', 'bucket', 'upload', 'share']) {
    await stepShown(browser, step);
    await look(step);
    await browser.click(`#${step} button`);
  }
  await stepShown(browser, 'done');
  await look('done');
  return String(await browser.run(`return document.getElementById('link').href`));
}

const isPictureShown = `document.querySelector('#stage:not(.is-loading) > img')?.naturalWidth === 960`;

/** Opens a share of the example as a visitor, and waits until the page shows its picture. A known visitor types no password. */
export async function openShare(browser: Browser, url: string): Promise<void> {
  await browser.open(url);
  const isAsked = `document.getElementById('password')?.checkVisibility() === true`;
  await browser.until(`return ${isAsked} || ${isPictureShown}`);
  if ((await browser.run(`return ${isAsked}`)) === true) await browser.type('#password', 'open sesame\uE007');
  await browser.until(`return ${isPictureShown}`);
}
