/* Tests passkeys in a real browser: Chromium with the virtual authenticator of its DevTools protocol. */
import { createServer } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { asObject, makeServiceClient } from '../support/clients/service-client.js';
import { type Browser, givenBrowser, browserSuite } from '../support/clients/browser.js';
import { givenInProcess } from '../support/servers/service-in-process.js';
import { givenContext } from '../support/given/given-stores.js';
import { listen, relay } from '../support/servers/loopback.js';

const path = '/api/v1/auth';

/** Serves an empty page, whose origin may use passkeys; or, where a service is named, what the service answers. */
async function givenPage(t: ExecutionContext, place = { service: '' }): Promise<string> {
  const server = createServer((request, response) => {
    if (place.service === '') {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Page</title>');
      return;
    }
    void relay(place.service, request, response);
  });
  return `http://localhost:${await listen(t, server)}`;
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

browserSuite(test, 'Passkeys in a browser', () => {
  test.serial('A browser registers a passkey and signs in by it with user verification', async (t) => {
    // Given the service, a page of its relying party, and a browser with an authenticator
    const page = await givenPage(t);
    const environment = { PASSKEY_RP_ID: 'localhost', PASSKEY_ORIGINS: page };
    const service = await givenInProcess(t, { environment });
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
    // and the same authenticator makes no second one, after the session has proved the first
    const proof = await credentials(browser, 'get', await options('/reauthenticate/options', headers));
    t.is(
      (await client.post(`${path}/reauthenticate`, { passkey: proof as JsonObject }, headers)).status,
      204,
    );
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

  test.serial(
    'An auditor signs in on the page of the audit log by a passkey, and by a recovery code beside it',
    async (t) => {
      // Given an auditor with a passkey alone
      const place = { service: '' };
      const page = await givenPage(t, place);
      const environment = { PASSKEY_RP_ID: 'localhost', PASSKEY_ORIGINS: page };
      const service = await givenInProcess(t, { environment });
      const [email, password] = ['auditor@example.org', 'Correct-Horse-7'];
      const client = makeServiceClient(service.url);
      const { headers } = await client.register(email, password);
      const context = (n: number) => givenContext(n, new Date(), 'operator');
      await service.services.commands.verifyEmail({ email }, context(1));
      await service.services.commands.grantPlatformRole({ email, role: 'auditor' }, context(2));
      const browser = await givenBrowser(t);
      place.service = service.url;
      await browser.open(`${page}/audit`);
      await browser.devTools('WebAuthn.enable', {});
      await addAuthenticator(browser, { isUserVerified: true });
      const asked = await client.post(`${path}/passkey-options`, {}, headers);
      const options = asObject(asked.json()['data'])['publicKey'];
      const credential = (await credentials(browser, 'create', options)) as JsonObject;
      const added = await client.post(`${path}/passkeys`, { credential }, headers);
      t.is(added.status, 201, added.text);
      const [recoveryCode = ''] = asObject(added.json()['data'])['recovery_codes'] as readonly string[];
      const isIn = `return !document.getElementById('app').hidden`;
      const signOut = async (): Promise<void> => {
        await browser.click('#sign-out');
        await browser.until(`return !document.getElementById('sign-in').hidden`);
      };
      const byPassword = async (): Promise<void> => {
        await browser.run(`for (const id of ['email', 'password']) document.getElementById(id).value = ''`);
        await browser.type('#email', email);
        await browser.type('#password', `${password}\uE007`);
        await browser.until(`return !document.getElementById('second-factor').hidden`);
      };
      // When the auditor uses the passkey, then the page opens
      await browser.click('#use-passkey');
      await browser.until(isIn);
      await signOut();
      // After a password it asks for the passkey
      await byPassword();
      await browser.click('#prove-passkey');
      await browser.until(isIn);
      await signOut();
      // or takes a recovery code
      await byPassword();
      await browser.type('#factor', `${recoveryCode}\uE007`);
      await browser.until(isIn);
      t.is(await browser.run(`return document.getElementById('account').textContent`), email);
    },
  );
});
