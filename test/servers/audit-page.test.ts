/* Tests the page for auditors in a real browser: Chromium, controlled by WebDriver. */
import { mailedCode } from '../support/given/mailed-codes.js';
import { createServer } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { makeNoteSigner, noteOf, parseNote } from '../../src/areas/audit/tree/note.js';
import { auditSeed } from '../support/audit/audit-scene.js';
import { givenAudit } from '../support/audit/given-audit.js';
import {
  desktop,
  brokenRules,
  keepScreenshot,
  overflowingWidths,
  type Browser,
  givenBrowser,
  browserSuite,
} from '../support/clients/browser.js';
import { eventually } from '../support/eventually.js';
import { totpCode } from '../support/fakes/authenticator-app.js';
import { password } from '../support/servers/http-service.js';
import { listen, relay } from '../support/servers/loopback.js';

/** Changes the reply of a path; null leaves it. */
type Change = (path: string, body: Buffer) => Buffer | string | null;

/** A service behind a proxy that may change its replies, and a browser. */
async function given(t: ExecutionContext) {
  const audit = await givenAudit(t);
  const state: { change: Change; refused: string | null; readonly asked: string[] } = {
    ...{ change: () => null, refused: null, asked: [] },
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    state.asked.push(path);
    if (state.refused !== null && path.startsWith(state.refused)) {
      response.writeHead(503).end('{}');
      return;
    }
    void relay(audit.origin, request, response, (body) => state.change(path, body) ?? body);
  });
  const url = `http://127.0.0.1:${await listen(t, server)}/audit`;
  const browser = await givenBrowser(t);
  const signIn = async (name = 'auditor'): Promise<void> => {
    await browser.until(`return !document.getElementById('sign-in').hidden`);
    await browser.run(`for (const id of ['email', 'password']) document.getElementById(id).value = ''`);
    await browser.type('#email', `${name}@example.com`);
    await browser.type('#password', `${password}\uE007`);
  };
  const codes = [...audit.factor.recoveryCodes];
  const pass = async (): Promise<void> => {
    await browser.until(`return document.activeElement.id === 'factor'`);
    await browser.type('#factor', `${codes.pop() ?? ''}\uE007`);
  };
  const open = async (fragment: string): Promise<void> => {
    // Another fragment alone would not load the page again.
    await browser.open('about:blank');
    await browser.open(`${url}${fragment}`);
    await signIn();
  };
  return {
    ...{ ...audit, browser, url, state, signIn },
    pass,
    /** Opens the page and signs the auditor in, by a password and by a recovery code. */
    visit: async (fragment = '') => {
      await open(fragment);
      await pass();
    },
    /** Opens the page, and signs the auditor in as far as the second factor. */
    open,
  };
}

const textOf = (browser: Browser, selector: string): Promise<string> =>
  browser.run(`return document.querySelector(arguments[0]).textContent`, selector) as Promise<string>;
const verdictIs = (kind: string): string =>
  `return document.getElementById('verdict').dataset.verdict === '${kind}'`;
/** No mark is pending, and all are of this kind. */
const marksAre = (view: string, kind: string): string =>
  `const marks = [...document.querySelectorAll('#${view}-list .mark')];
   return marks.length > 0 && marks.every((mark) => mark.dataset.mark === '${kind}')`;
const keyNoteSays = (words: string): string =>
  `return document.getElementById('key-note').textContent.includes('${words}')`;
const verdictSays = (words: string): string =>
  `return document.getElementById('verdict-text').textContent.includes('${words}')`;

/** Shows a checkpoint with other lines, signed with the key of the log. */
function resigned(lines: (lines: readonly [string, string, string]) => readonly string[]): Change {
  return (path, body) => {
    if (path !== '/audit/log/checkpoint') return null;
    const [origin = '', length = '', root = ''] = String(body).split('\n');
    const text = lines([origin, length, root])
      .map((line) => `${line}\n`)
      .join('');
    return noteOf(text, [makeNoteSigner(origin, auditSeed).sign(text)]);
  };
}

const keptSize = `return JSON.parse(localStorage.getItem('stowage-audit-checkpoint')).size`;
const alarm = '#alarm';

/** Returns the code that was mailed last to an address. */
browserSuite(test, 'The page for auditors in a browser', () => {
  // The tests run one after the other, so that no browser waits for the start of another.
  test.serial('An auditor signs in by two factors, and every shown event is proved', async (t) => {
    const scene = await given(t);
    const { browser, state, clock, project, url } = scene;
    const { secret } = scene.factor;
    const size = await scene.sign();
    // When the auditor opens a link with filters, and types a wrong code first
    await scene.open(`#view=events&type=ProjectCreated`);
    await browser.until(`return !document.getElementById('second-factor').hidden`);
    t.is(await browser.run(`return document.activeElement.id`), 'factor');
    await browser.type('#factor', '000000x\uE007');
    await browser.until(`return document.getElementById('second-factor-note').textContent !== ''`);
    await browser.run(`document.getElementById('factor').value = ''`);
    clock.advance(30_000);
    await browser.type('#factor', `${totpCode(secret, clock.now())}\uE007`);
    // Then the page shows the events that the fragment selects, each with its proof
    await browser.until(marksAre('events', 'under'));
    t.is(await browser.run(`return document.querySelectorAll('#events-list li').length`), 2);
    t.is(await browser.run(`return document.getElementById('events-type').value`), 'ProjectCreated');
    t.regex(await textOf(browser, '#events-list .words'), /^User [0-9a-f-]{36} \(“owner”\) created project/);
    t.regex(await textOf(browser, '#verdict-text'), new RegExp(`^First time: .* ${size} events`));
    t.regex(
      await textOf(browser, '#signature-text'),
      /has signed the checkpoint\. First time: this browser now/,
    );
    t.is(await browser.run(keptSize), size);
    // and the filters offer every type, and what the events name
    const optionsOf = (list: string): Promise<unknown> =>
      browser.run(
        `return [...document.getElementById(arguments[0]).options].map(({ value }) => value)`,
        list,
      );
    t.true(((await optionsOf('all-types')) as string[]).includes('ShareRevoked'));
    t.true(((await optionsOf('shown-projects')) as string[]).includes(project));
    // and a printed page is a report of what was checked
    await browser.run(`window.print = () => dispatchEvent(new Event('beforeprint'))`);
    await browser.click('#print');
    t.regex(await textOf(browser, '#report-text'), /^Report of 20\d\d-.* by auditor@example\.com, on http/);
    await browser.devTools('Emulation.setEmulatedMedia', { media: 'print' });
    t.true(await browser.run(`return document.getElementById('report-text').checkVisibility()`));
    t.false(await browser.run(`return document.getElementById('print').checkVisibility()`));
    await browser.devTools('Emulation.setEmulatedMedia', { media: '' });
    t.deepEqual(await brokenRules(browser), []);
    t.deepEqual(await overflowingWidths(browser, desktop), []);
    await keepScreenshot(browser, 'audit-page');
    // When the auditor types a name, then the filter is the one user who has it
    await browser.type('#events-actor', 'Owner\uE007');
    await browser.until(`return location.hash.endsWith('&actor=user%3A${scene.ownerId}')`);
    await browser.until(marksAre('events', 'under'));
    await browser.run(`document.getElementById('events-actor').value = ''`);
    // When the filters change
    await browser.run(`document.getElementById('events-type').value = ''`);
    await browser.type('#events-stream', `project-${project}\uE007`);
    await browser.until(
      `return location.hash === '#view=events&stream=project-${project}'
        && document.querySelectorAll('[data-mark=under]').length === 2
        && [...document.querySelectorAll('#events-list li')].every((row) => row.textContent.includes('project-${project}'))`,
    );
    await browser.click('#events-list summary');
    await browser.until(`return document.querySelector('#events-list pre').textContent.includes('metadata')`);
    // Then no request went elsewhere, and the browser keeps a checkpoint, a key and the token of its device alone
    t.deepEqual(await browser.run(`return Object.keys(localStorage).sort()`), [
      'stowage-audit-checkpoint',
      'stowage-audit-keys',
      'stowage-device',
    ]);
    t.deepEqual(await browser.run(`return [sessionStorage.length, document.cookie]`), [0, '']);
    const origins = `return [...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin))]`;
    t.deepEqual(await browser.run(origins), [new URL(url).origin]);
    t.false(state.asked.some((path) => path.includes('token')));
    // When the session has expired, then the page renews it and goes on
    clock.advance(11 * 60_000);
    await browser.click('#again');
    await browser.until(verdictIs('continues'));
    await browser.until(marksAre('events', 'under'));
    t.true(state.asked.includes('/api/v1/auth/refresh'));
    // When the auditor signs out, then the page forgets the events and keeps the filters
    const offered = `return document.querySelectorAll('#shown-actors option').length`;
    t.true(Number(await browser.run(offered)) > 0);
    await browser.click('#sign-out');
    await browser.until(`return document.querySelectorAll('#shown-actors option').length === 0`);
    await browser.until(`return !document.getElementById('sign-in').hidden`);
    t.is(await browser.run(`return document.querySelectorAll('#events-list li').length`), 0);
    t.is(await browser.run(`return location.hash`), `#view=events&stream=project-${project}`);
    // When the auditor signs in by a mailed code and a recovery code
    await browser.run(`document.getElementById('email').value = ''`);
    await browser.type('#email', 'auditor@example.com');
    await browser.click('#mail-code');
    await browser.until(`return document.activeElement.id === 'mailed-code'`);
    await browser.type('#mailed-code', `${await mailedCode(scene, 'auditor@example.com')}\uE007`);
    await scene.pass();
    // Then the page shows the same search again
    await browser.until(marksAre('events', 'under'));
    t.is(await browser.run(`return document.querySelectorAll('#events-list li').length`), 2);
    // The only console messages are reports of refused calls
    const complaints = await browser.complaints();
    t.true(
      complaints.every((message) => /status of 40[0-9]/.test(message)),
      complaints.join('\n'),
    );
  });

  test.serial('Signing out ends the session, also when its access token has expired', async (t) => {
    const scene = await given(t);
    const { browser, clock } = scene;
    await scene.sign();
    await scene.visit();
    await browser.until(marksAre('events', 'under'));
    // Given a page that stood open for a while
    clock.advance(11 * 60_000);
    await browser.click('#sign-out');
    await browser.until(`return !document.getElementById('sign-in').hidden`);
    // Then the session has ended at the service too
    await eventually('the session has ended', async () =>
      (await scene.events()).some(({ type }) => type === 'SessionRevoked'),
    );
    await browser.until(
      `return document.getElementById('sign-in-note').textContent === 'You are signed out.'`,
    );
    t.true(await browser.run(`return document.getElementById('app').hidden`));
  });

  test.serial('The page shows a stream at any moment, and a contradiction', async (t) => {
    const scene = await given(t);
    const { browser, project, owner, ask } = scene;
    await ask(`/api/v1/projects/${project}`, {
      method: 'PATCH',
      json: { name: '<b>Land</b>' },
      headers: owner,
    });
    const size = await scene.sign();
    const events = await scene.events();
    const created = events.findIndex(({ stream }) => stream === `project-${project}`);
    // Given the moment after the creation
    await scene.visit(`#view=stream&stream=project-${project}&as_of=${created}`);
    await browser.until(
      `return document.getElementById('documents').textContent.includes('"name": "Launch"')`,
    );
    await browser.until(marksAre('stream', 'under'));
    // When the auditor follows the newest event of the history
    // A click at the place of the link would miss it where the page grows meanwhile.
    await browser.run(`document.querySelector('#stream-list a[href*="as_of"]').click()`);
    // Then the documents are those after that event, and no name is markup
    await browser.until(`return document.getElementById('documents').textContent.includes('<b>Land</b>')`);
    t.is(await browser.run(`return document.querySelectorAll('main b').length`), 0);
    // When the moment is before the stream
    await browser.run(`document.getElementById('stream-as_of').value = ''`);
    await browser.type('#stream-as_of', `${created - 1}\uE007`);
    await browser.until(
      `return document.getElementById('stream-note').textContent.includes('the stream did not exist then')`,
    );
    // When the auditor opens the status, then the page shows the witnesses and the sweep
    scene.state.change = (path, body) =>
      path === '/audit/status'
        ? JSON.stringify({
            ...(JSON.parse(String(body)) as object),
            ...{ size: size + 4, witnesses: [{ name: 'w1', size: 7, problem: 'no answer' }] },
            sweep: { running: { done: 5, of: 10 }, finished_at: null, size: 0 },
          })
        : null;
    await browser.click('#status-link');
    await browser.click('#again');
    await browser.until(`return document.getElementById('witnesses').textContent === 'w17no answer'`);
    t.regex(await textOf(browser, '#status-facts'), /not signed yet4.*A pass runs: 5 of 10 events/);
    scene.state.change = () => null;
    // Then the status shows the log, and the contradiction that the service reports stands above all
    scene.lose(size);
    await browser.click('#again');
    await browser.until(`return !document.getElementById('alarm').hidden`);
    t.regex(await textOf(browser, alarm), /^NOT VERIFIEDThe service reports that its log contradicts/);
    t.is(await browser.run(`return document.querySelector('#alarm').getAttribute('role')`), 'alert');
    t.regex(await textOf(browser, '#status-facts'), new RegExp(`signed checkpoint${size}Signed at`));
    t.regex(await textOf(browser, '#witnesses'), /No witness is configured/);
    t.regex(String(await browser.run(`return document.title`)), /^NOT VERIFIED/);
    for (const width of [360, 1_400]) {
      await browser.resize(width, 800);
      for (const view of ['events', 'stream', 'status']) {
        await browser.run(`document.getElementById(arguments[0]).click()`, `${view}-link`);
        await browser.until(`return !document.getElementById('${view}-view').hidden`);
        const fits = `return document.documentElement.scrollWidth <= innerWidth`;
        t.true(await browser.run(fits), `${view}, ${width}`);
      }
    }
  });

  test.serial('A checkpoint of another history or key is a failure', async (t) => {
    const scene = await given(t);
    const { browser, state, post, owner } = scene;
    const before = await scene.sign();
    await scene.visit();
    await browser.until(verdictIs('first'));
    // When the log has grown
    await post('/api/v1/projects', { name: 'Later' }, owner);
    const size = await scene.sign();
    await browser.click('#again');
    await browser.until(verdictIs('continues'));
    t.regex(
      await textOf(browser, '#verdict-text'),
      new RegExp(`of ${size} events continues the ${before} events`),
    );
    t.is(await browser.run(keptSize), size);
    await browser.until(marksAre('events', 'under'));
    // When the service shows another root, signed with the real key
    state.change = resigned(([origin, length]) => [origin, length, Buffer.alloc(32, 1).toString('base64')]);
    await browser.click('#again');
    // Then the verdict, the alarm, the title and every mark say so, and the kept checkpoint stays
    await browser.until(verdictIs('failed'));
    t.regex(await textOf(browser, alarm), /^NOT VERIFIEDThe service shows another root for the same/);
    await browser.until(marksAre('events', 'not'));
    t.regex(String(await browser.run(`return document.title`)), /^NOT VERIFIED/);
    const keptNote = String(
      await browser.run(`return JSON.parse(localStorage.getItem('stowage-audit-checkpoint')).note`),
    );
    t.is(parseNote(keptNote)?.text.split('\n')[1], String(size));
    t.notRegex(keptNote, /AQEBAQEB/);
    // also after a reload
    await scene.visit();
    await browser.until(verdictIs('failed'));
    t.is(await browser.run(keptSize), size);
    // When the log is shorter
    state.change = resigned(([origin, length, root]) => [origin, String(Number(length) - 1), root]);
    await browser.click('#again');
    await browser.until(verdictSays('is shorter than what this browser saw'));
    t.is(await browser.run(keptSize), size);
    // When the log has grown, and its root is another one
    await post('/api/v1/projects', { name: 'Grown' }, owner);
    const grown = await scene.sign();
    state.change = resigned(([origin, length]) => [origin, length, Buffer.alloc(32, 2).toString('base64')]);
    await browser.click('#again');
    await browser.until(verdictSays(`do not continue the ${size} events that this browser saw`));
    t.is(await browser.run(keptSize), size);
    // When the proof does not come, then nothing is checked, and the alarm stays
    [state.change, state.refused] = [() => null, '/audit/consistency'];
    await browser.click('#again');
    await browser.until(verdictIs('unchecked'));
    t.false(await browser.run(`return document.getElementById('alarm').hidden`));
    t.is(await browser.run(keptSize), size);
    state.refused = null;
    // When another key has signed
    const rotated = Buffer.alloc(32, 99);
    state.change = (path, body) => {
      if (path !== '/audit/log/checkpoint') return null;
      const text = parseNote(String(body))?.text ?? '';
      return noteOf(text, [makeNoteSigner(text.split('\n')[0] ?? '', rotated).sign(text)]);
    };
    await browser.click('#again');
    await browser.until(
      `return document.getElementById('alarm').textContent.includes('No key that this browser remembers has signed')`,
    );
    t.is(await browser.run(keptSize), size);
    // When the auditor adds that key, then the check passes and the alarm ends
    const origin = parseNote(keptNote)?.text.split('\n')[0] ?? '';
    await browser.click('#status-link');
    await browser.type('#key', `${origin}+00000000+AAAA\uE007`);
    await browser.until(keyNoteSays('This is no vkey'));
    await browser.run(`document.getElementById('key').value = ''`);
    await browser.type('#key', `${makeNoteSigner(origin, Buffer.alloc(32, 98)).vkey}\uE007`);
    await browser.until(keyNoteSays('has NOT signed the checkpoint'));
    await browser.type('#key', `${makeNoteSigner(origin, rotated).vkey}\uE007`);
    await browser.until(keyNoteSays('It has signed the checkpoint'));
    await browser.until(verdictIs('continues'));
    t.true(await browser.run(`return document.getElementById('alarm').hidden`));
    t.is(await browser.run(keptSize), grown);
    // When the first key signs again, then the browser remembers all keys
    state.change = () => null;
    await browser.click('#again');
    await browser.until(verdictSays('is the one that this browser saw last'));
    t.is(await browser.run(`return document.querySelectorAll('#kept li').length`), 3);
    // When the auditor makes the browser forget, then the next check is a first one
    await browser.run(`window.confirm = () => true`);
    await browser.click('#forget');
    await browser.until(verdictIs('first'));
  });

  test.serial('An altered event or tile turns its mark to a failure', async (t) => {
    const scene = await given(t);
    const { browser, state } = scene;
    await scene.sign();
    // Given a service that shows another value in one event
    state.change = (path, body) =>
      path.startsWith('/audit/events')
        ? String(body).replace('"type":"ProjectCreated"', '"type":"ProjectDeleted"')
        : null;
    await scene.visit();
    await browser.until(`return document.querySelectorAll('[data-mark=not]').length === 1`);
    t.regex(
      await textOf(browser, '[data-mark=not]'),
      /^✗ NOT under the checkpoint: The event is not the one/,
    );
    const index = await browser.run(
      `return document.querySelector('[data-mark=not]').parentElement.dataset.index`,
    );
    await browser.until(`return !document.getElementById('alarm').hidden`);
    t.regex(await textOf(browser, alarm), new RegExp(`NOT under the signed checkpoint: ${String(index)}\\.`));
    await browser.until(
      `return document.getElementById('events-list-note').textContent.includes('1 are NOT under the checkpoint')`,
    );
    // When the event is right and the hashes are not
    state.change = (path, body) =>
      path.startsWith('/audit/log/tile/')
        ? Buffer.from(body.map((byte, at) => (at === 40 ? byte ^ 1 : byte)))
        : null;
    await scene.visit();
    await browser.until(marksAre('events', 'not'));
    t.is(await browser.run(`return document.querySelectorAll('[data-mark=under]').length`), 0);
    // When the tiles do not come, then the events are not checked
    [state.change, state.refused] = [() => null, '/audit/log/tile/'];
    await scene.visit();
    await browser.until(marksAre('events', 'unchecked'));
    await browser.until(
      `return document.getElementById('events-list-note').textContent.includes('could not be checked')`,
    );
    // When they come again, then a new check proves every event
    state.refused = null;
    await browser.click('#again');
    await browser.until(marksAre('events', 'under'));
  });

  test.serial('A user who is no auditor gets a clear sentence', async (t) => {
    const scene = await given(t);
    const { browser } = scene;
    await scene.sign();
    await browser.open(scene.url);
    await browser.type('#email', 'auditor@example.com');
    await browser.type('#password', 'Wrong-Password-1\uE007');
    await browser.until(`return document.getElementById('sign-in-note').textContent.includes('is wrong')`);
    await scene.signIn('owner');
    await browser.until(
      `return document.getElementById('sign-in-note').textContent.includes('This account is not an auditor')`,
    );
    t.true(await browser.run(`return document.getElementById('app').hidden`));
    t.true(await browser.run(`return document.getElementById('alarm').hidden`));
  });

  test.serial('A browser without Ed25519 says that the signature is not checked', async (t) => {
    const { browser, url, sign, signIn, pass } = await given(t);
    await sign();
    await browser.open(url);
    await browser.run(
      `SubtleCrypto.prototype.importKey = () => Promise.reject(new DOMException('', 'NotSupportedError'))`,
    );
    await signIn();
    await pass();
    await browser.until(marksAre('events', 'under'));
    t.regex(
      await textOf(browser, '#signature-text'),
      /^Signature: NOT CHECKED\. This browser has no Ed25519/,
    );
    t.deepEqual(await browser.run(`return Object.keys(localStorage).sort()`), [
      'stowage-audit-checkpoint',
      'stowage-device',
    ]);
  });
});
