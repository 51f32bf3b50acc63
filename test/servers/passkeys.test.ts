/* Tests passkeys in a real browser: Chromium with the virtual authenticator of its DevTools protocol. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { makeServiceClient } from '../support/clients/service-client.js';
import { type Browser, givenBrowser, missingBrowser } from '../support/clients/web-driver.js';
import { startInProcess } from '../support/servers/service-in-process.js';
import { makeDataDirectory } from '../support/servers/service-process.js';

const missing = missingBrowser();

const path = '/api/v1/auth';

/** Serves an empty page, whose origin may use passkeys. */
async function givenPage(t: ExecutionContext): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Page</title>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

async function addAuthenticator(browser: Browser, { isUserVerified }: { readonly isUserVerified: boolean }) {
  const options = {
    ...{ protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true },
    ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified },
  };
  const added = await browser.devTools('WebAuthn.addVirtualAuthenticator', { options });
  return (added as { readonly authenticatorId: string }).authenticatorId;
}

/** Calls `navigator.credentials` and returns the credential's JSON, or the name of the browser's error. */
function credentials(browser: Browser, way: 'create' | 'get', publicKey: unknown): Promise<unknown> {
  const parse = way === 'create' ? 'parseCreationOptionsFromJSON' : 'parseRequestOptionsFromJSON';
  return browser.run(
    `const publicKey = PublicKeyCredential.${parse}(JSON.parse(arguments[0]));
     return navigator.credentials.${way}({ publicKey }).then((one) => one.toJSON(), (error) => error.name);`,
    JSON.stringify(publicKey),
  );
}

if (missing !== null) {
  // eslint-disable-next-line ava/no-skip-test, ava/require-assertion -- the output names what did not run, and why
  test.skip(`Passkeys in a browser: ${missing}`, () => undefined);
} else {
  test.serial('A browser registers a passkey and signs in by it with user verification', async (t) => {
    // Given the service, a page of its relying party, and a browser with an authenticator
    const directory = await makeDataDirectory();
    t.teardown(() => directory.remove());
    const page = await givenPage(t);
    const environment = { PASSKEY_RP_ID: 'localhost', PASSKEY_ORIGINS: page };
    const service = await startInProcess({ directory: directory.path, environment });
    t.teardown(() => service.close());
    const browser = await givenBrowser(t);
    await browser.open(page);
    await browser.devTools('WebAuthn.enable', {});
    const authenticatorId = await addAuthenticator(browser, { isUserVerified: true });
    const client = makeServiceClient(service.url);
    const { headers } = await client.register('ada@example.org', 'Correct-Horse-7');
    const post = async (to: string, json: object, session: Readonly<Record<string, string>> = {}) => {
      const reply = await fetch(`${service.url}${path}${to}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...session },
        body: JSON.stringify(json),
      });
      const { data } = (await reply.json()) as { readonly data?: Readonly<Record<string, unknown>> };
      return { status: reply.status, data: data ?? {} };
    };
    const options = async (to: string, session = {}) => (await post(to, {}, session)).data['publicKey'];

    // When the page makes a passkey, then the service registers it
    const created = await credentials(browser, 'create', await options('/passkey-options', headers));
    const registered = await post('/passkeys', { credential: created, name: 'Browser' }, headers);
    t.is(registered.status, 201, JSON.stringify(created));
    t.like(registered.data, { name: 'Browser', last_used_at: null });
    // and the same authenticator makes no second one
    t.is(
      await credentials(browser, 'create', await options('/passkey-options', headers)),
      'InvalidStateError',
    );

    // When the page asks for a passkey without naming a user, then the response signs in, once
    const got = await credentials(browser, 'get', await options('/passkey-login/options'));
    const signedIn = await post('/passkey-login', { credential: got });
    t.is(signedIn.status, 200, JSON.stringify(got));
    t.like(signedIn.data['user'], { email: 'ada@example.org' });
    t.is((await post('/passkey-login', { credential: got })).status, 401);

    // Without user verification the browser gives no response
    await browser.devTools('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    t.is(await credentials(browser, 'get', await options('/passkey-login/options')), 'NotAllowedError');
  });
}
