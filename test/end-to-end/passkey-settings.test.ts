import test from 'ava';
import { asObject, dataOf, makeServiceClient, textOf } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import {
  type Environment,
  freePort,
  givenService,
  type ServiceProcess,
  spawnService,
  givenDirectory,
} from '../support/servers/service-process.js';

const relyingParty = /PASSKEY_RP_ID must be a domain such as example\.org, or localhost/;
const origins = /PASSKEY_ORIGINS must list origins like https:\/\/app\.example\.org/;

/** Settings that no browser accepts, and the sentence of the start. */
const refused: readonly (readonly [Environment, RegExp])[] = [
  [{ PASSKEY_RP_ID: 'https://example.org' }, relyingParty],
  [{ PASSKEY_RP_ID: '192.0.2.1' }, relyingParty],
  [{ PASSKEY_RP_ID: 'Example.org' }, relyingParty],
  [{ PASSKEY_RP_ID: 'example.org', PASSKEY_ORIGINS: 'https://example.net' }, origins],
  [{ PASSKEY_RP_ID: 'example.org', PASSKEY_ORIGINS: 'http://app.example.org' }, origins],
  [{ PASSKEY_RP_ID: 'example.org', PASSKEY_ORIGINS: 'https://app.example.org/page' }, origins],
  // The default origin is that of PUBLIC_URL, which is not below this domain.
  [{ PASSKEY_RP_ID: 'example.org', PUBLIC_URL: 'https://example.net' }, origins],
];

/** Waits until the process ends, and returns its exit code, or until it serves. */
async function endOrServing({ pid, url, exited }: ServiceProcess) {
  let ended: number | 'by a signal' | null = null;
  void exited.then((code) => {
    ended = code ?? 'by a signal';
  });
  return eventually(
    'the process ends or serves',
    async () => {
      if (ended !== null) return ended;
      const serves = await fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      return serves && 'serving';
    },
    { pid, at: endOrServing },
  );
}

test('The start refuses settings of passkeys that no browser accepts, with a sentence that names the setting', async (t) => {
  const data = givenDirectory(t);
  for (const [environment, says] of refused) {
    const service = spawnService({ directory: data, port: await freePort(), environment });
    t.teardown(() => service.kill());
    t.is(await endOrServing(service), 1, JSON.stringify(environment));
    t.regex(service.output(), says);
  }
});

test('The service offers passkeys for the domain of the settings, and none where PUBLIC_URL has no domain', async (t) => {
  const ask = async (environment: Environment) => {
    const service = await givenService(t, { environment });
    return makeServiceClient(service.url).post('/api/v1/auth/passkey-login/options', {});
  };
  const configured = await ask({
    PASSKEY_RP_ID: 'example.org',
    PASSKEY_ORIGINS: 'https://example.org,https://app.example.org',
  });
  t.is(configured.status, 200, configured.text);
  t.is(textOf(asObject(dataOf(configured)['publicKey']), 'rpId'), 'example.org');
  const none = await ask({ PUBLIC_URL: 'http://192.0.2.1' });
  t.is(none.status, 503);
  t.like(none.json(), { code: 'passkeys_not_configured' });
});
