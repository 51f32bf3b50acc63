import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { makeAllowedAddress } from '../../../../src/outgoing/addresses.js';
import {
  OutgoingError,
  type OutgoingHttp,
  type OutgoingReply,
} from '../../../../src/outgoing/outgoing-http.js';
import { KeyDirectoryProblem } from '../../../../src/areas/payments/platforms/keys/key-directory.js';
import {
  makeFetchedCertificates,
  makePinnedCertificates,
} from '../../../../src/areas/payments/platforms/paypal/paypal-certificates.js';
import { arrivesAt } from './messages/messages.js';
import { givenKeyDirectory, readVectors } from './vectors/vectors.js';
import { makePatientHttp } from '../../../support/clients/patient-http.js';

const { certificates } = readVectors('paypal');
const pem = (name: string): string => certificates[name] ?? '';
const address = 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-a5cafa77';
const hour = 3_600_000;
const later = (ms: number) => new Date(arrivesAt.getTime() + ms);

const reply = (status: number, body: string): OutgoingReply => ({
  status,
  headers: {},
  body: Buffer.from(body),
});

/** Makes the certificates over a client that counts its requests and returns the given replies. */
function givenPayPal(answer: (url: string) => OutgoingReply | Promise<OutgoingReply>, paceMs = 0) {
  const asked: string[] = [];
  const http: OutgoingHttp = async ({ url }) => {
    asked.push(url);
    return answer(url);
  };
  const find = makeFetchedCertificates({ environment: 'live', http, paceMs });
  return { asked, http, find };
}

test("An address that is not letter by letter PayPal's is never fetched", async (t) => {
  const { asked, http, find } = givenPayPal(() => reply(200, pem('signing')));
  const hosts = [
    ...['api.sandbox.paypal.com', 'api.paypal.com.example.org', 'example.org', 'api.paypal.com@example.org'],
    ...['example.org/api.paypal.com', 'api.paypal.com:443', 'api.paypal.com.', 'api-paypal.com'],
    ...['apiXpaypal.com', '127.0.0.1', 'API.PAYPAL.COM'],
  ];
  for (const url of [
    ...['', 'CERT-1', ...['http', 'HTTPS'].map((scheme) => address.replace('https', scheme))],
    ...hosts.map((host) => address.replace('api.paypal.com', host)),
    ...[address.replace('/certs/', '/certs/../'), address.replace('CERT-', 'CERT-%2e%2e/'), ` ${address}`],
    ...['?x', '#x', '/', '\n', '\\@example.org', 'a'.repeat(200)].map((end) => `${address}${end}`),
  ]) {
    t.deepEqual(await find(url, arrivesAt), { kind: 'unknown' }, url);
  }
  t.deepEqual(asked, []);
  const sandbox = makeFetchedCertificates({ environment: 'sandbox', http, paceMs: 0 });
  t.deepEqual(await sandbox(address, arrivesAt), { kind: 'unknown' });
  t.is((await sandbox(address.replace('api.', 'api-m.sandbox.'), arrivesAt)).kind, 'found');
});

test('A certificate is fetched once a day for all callers', async (t) => {
  const { asked, find } = givenPayPal(() => reply(200, pem('signing')));
  const answers = await Promise.all(Array.from({ length: 50 }, () => find(address, arrivesAt)));
  t.true(answers.every(({ kind }) => kind === 'found'));
  await find(address, later(23 * hour));
  t.is(asked.length, 1);
  await find(address, later(25 * hour));
  t.is(asked.length, 2);
});

test('A certificate that does not sign for PayPal at this time is unknown', async (t) => {
  for (const name of ['foreign', 'sandbox', 'expired', 'early']) {
    const { find } = givenPayPal(() => reply(200, pem(name)));
    t.deepEqual(await find(address, arrivesAt), { kind: 'unknown' }, name);
  }
  for (const body of [
    '',
    'no PEM',
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    pem('signing').slice(0, 200),
  ]) {
    const { find } = givenPayPal(() => reply(200, body));
    t.deepEqual(await find(address, arrivesAt), { kind: 'unknown' }, body);
  }
});

test('A certificate that expires in the cache is no longer used', async (t) => {
  const { find } = givenPayPal(() => reply(200, pem('expired')));
  t.is((await find(address, new Date('2025-12-31T23:00:00Z'))).kind, 'found');
  t.is((await find(address, new Date('2026-01-01T01:00:00Z'))).kind, 'unknown');
});

test('An address that PayPal does not know is not fetched again for ten minutes', async (t) => {
  const { asked, find } = givenPayPal(() => reply(404, ''));
  for (let count = 0; count < 10; count += 1) t.is((await find(address, arrivesAt)).kind, 'unknown');
  t.is(asked.length, 1);
  await find(address, later(601_000));
  t.is(asked.length, 2);
});

test('Callbacks must come again while PayPal is away, and a cached certificate stays in use', async (t) => {
  let away: OutgoingReply | OutgoingError = reply(503, '');
  const { asked, find } = givenPayPal(() => (away instanceof Error ? Promise.reject(away) : away));
  t.is((await find(address, arrivesAt)).kind, 'unavailable');
  away = new OutgoingError('connection_timeout');
  t.is((await find(address, arrivesAt)).kind, 'unavailable');
  away = reply(302, '');
  t.is((await find(address, arrivesAt)).kind, 'unavailable');
  away = reply(200, pem('signing'));
  t.is((await find(address, arrivesAt)).kind, 'found');
  away = new OutgoingError('connection_refused');
  t.is((await find(address, later(30 * hour))).kind, 'found');
  away = reply(404, '');
  t.is((await find(address, later(31 * hour))).kind, 'unknown');
  t.is(asked.length, 6);
});

test('A flood of invented addresses causes few requests, and a cached certificate is found at once', async (t) => {
  const { asked, find } = givenPayPal(
    (url) => (url === address ? reply(200, pem('signing')) : reply(404, '')),
    50,
  );
  t.is((await find(address, arrivesAt)).kind, 'found');
  const startedAt = performance.now();
  const flood = Array.from({ length: 500 }, (_none, index) => find(`${address}${index}`, arrivesAt));
  t.is((await find(address, arrivesAt)).kind, 'found');
  const kinds = (await Promise.all(flood)).map(({ kind }) => kind);
  const most = 2 + Math.ceil((performance.now() - startedAt) / 50);
  t.true(asked.length <= most, `${asked.length} requests, at most ${most}`);
  t.is(kinds.filter((kind) => kind === 'unavailable').length, 500 - (asked.length - 1));
});

test('Two slow requests run, four wait, and further callers must come again', async (t) => {
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { asked, find } = givenPayPal(() => answered.then(() => reply(404, '')));
  const kinds: string[] = [];
  const all = Array.from({ length: 20 }, async (_none, index) => {
    kinds.push((await find(`${address}${index}`, arrivesAt)).kind);
    // Answers only after all other callers have been refused.
    if (kinds.length === 20 - 2 - 4) answer();
  });
  await Promise.all(all);
  t.deepEqual(kinds, [...Array<string>(14).fill('unavailable'), ...Array<string>(6).fill('unknown')]);
  t.is(asked.length, 6);
});

/** Starts a server in PayPal's place, behind the real guard. */
async function givenServer(t: ExecutionContext, body: string): Promise<OutgoingHttp> {
  const server = createServer((_request, response) => response.end(body));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const guarded = makePatientHttp({ isAllowed: makeAllowedAddress(['127.0.0.0/8']) });
  return (request) =>
    guarded({ ...request, url: request.url.replace('https://api.paypal.com', `http://127.0.0.1:${port}`) });
}

test('The real guard reads a certificate and cuts off an endless one', async (t) => {
  const find = makeFetchedCertificates({ environment: 'live', http: await givenServer(t, pem('signing')) });
  t.is((await find(address, arrivesAt)).kind, 'found');
  const endless = await givenServer(t, ' '.repeat(200_000) + pem('signing'));
  t.is(
    (await makeFetchedCertificates({ environment: 'live', http: endless })(address, arrivesAt)).kind,
    'unknown',
  );
  const forbidden = makePatientHttp({
    isAllowed: makeAllowedAddress([]),
    lookup: (_hostname, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  t.like(await makeFetchedCertificates({ environment: 'live', http: forbidden })(address, arrivesAt), {
    kind: 'unavailable',
    problem: 'a certificate of PayPal’s cannot be fetched: the request failed: address_refused',
  });
});

test('Valid certificates of a directory are used for every named address', async (t) => {
  const path = givenKeyDirectory(t, { 'a.pem': pem('signing'), 'b.pem': pem('expired'), README: 'x' });
  const find = makePinnedCertificates({ path, environment: 'live', report: () => undefined });
  const found = await find('https://example.org/', arrivesAt);
  t.true(found.kind === 'found' && found.keys.length === 1);
  for (const name of ['foreign', 'sandbox']) {
    const wrong = givenKeyDirectory(t, { 'c.pem': pem(name) });
    const make = () => makePinnedCertificates({ path: wrong, environment: 'live', report: () => undefined });
    t.throws(make, { instanceOf: KeyDirectoryProblem }, name);
  }
});
