import { readFileSync, statSync } from 'node:fs';
import { pluck } from '../support/given/pluck.js';
import { join } from 'node:path';
import test from 'ava';
import type { Services } from '../../src/composition/services.js';
import { loginCodeAggregate } from '../../src/areas/accounts/domain/login-code/login-code.js';
import { userAggregate } from '../../src/areas/accounts/domain/user/user.js';
import { type RingName, ringNames } from '../../src/keys/rings/key-file-format.js';
import {
  asObject,
  makeServiceClient,
  operate,
  type ServiceClient,
  type ServiceReply,
  type SignedIn,
  textOf,
} from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { givenInProcess } from '../support/servers/service-in-process.js';
import { givenService, givenDirectory, runCli } from '../support/servers/service-process.js';
import { operateOn } from '../support/servers/operate-on.js';
import { givenSmtpServer } from '../support/servers/smtp-server.js';
import { settableClock } from '../support/fakes/settable-clock.js';
import { newestIssue } from '../support/examples/login-code.js';

const password = 'Correct-Horse-7';
const [minuteMs, dayMs] = [60_000, 86_400_000];

test('A mailed code whose key was retired by force is refused as a wrong one', async (t) => {
  const { services, url } = await givenInProcess(t, { environment: { SMTP_URL: 'smtp://127.0.0.1:1' } });
  const client = makeServiceClient(url);
  const email = 'ada@example.org';
  await client.register(email, password);
  const email_digest = services.digests.email(email);
  await client.post('/api/v1/auth/email-code/send', { email });
  await eventually('a code is issued', async () => {
    const { state } = await services.handler.load(loginCodeAggregate, email_digest);
    return newestIssue({ ...state, strong: [] }) !== null;
  });
  const kid = services.keyRings.code.active().kid;
  const next = textOf(await operateOn(services, 'keys add', { ring: 'code' }), 'kid');
  await operateOn(services, 'keys promote', { ring: 'code', kid: next, now: true });
  await operateOn(services, 'keys retire', { ring: 'code', kid, force: true });
  const reply = await client.post('/api/v1/auth/email-code/login', { email, code: '123456' });
  t.is(reply.status, 401, reply.text);
});

test('The rotation of every ring signs no user out and loses no sealed value', async (t) => {
  // Given signed-in users, one of whom lost the reply to her last refresh
  const directory = givenDirectory(t);
  const clock = settableClock();
  const service = await givenInProcess(t, { directory, clock });
  const { services } = service;
  const client = makeServiceClient(service.url);
  const ada = await client.register('ada@example.org', password);
  const bea = await client.register('bea@example.org', password);
  const lost = await refresh(client, ada.refreshToken);
  const before = kidsOf(services);

  // When an operator rotates every ring
  for (const ring of ringNames) {
    const kid = textOf(await operateOn(services, 'keys add', { ring }), 'kid');
    await operateOn(services, 'keys promote', { ring, kid, now: true });
  }
  const after = kidsOf(services);
  for (const ring of ringNames) t.not(after[ring], before[ring]);

  // Then earlier access tokens are valid, and sealed values open
  for (const [somebody, email] of [
    [ada, 'ada@example.org'],
    [bea, 'bea@example.org'],
  ] as const) {
    t.like((await client.get('/api/v1/auth/me', somebody.headers)).json(), { data: { email } });
  }
  // and the lost reply is repeated with the key that made it; the next one has the new key
  const again = await refresh(client, ada.refreshToken);
  t.is(again.refreshToken, lost.refreshToken);
  t.is(again.accessKid, after.jwt);
  const next = await refresh(client, again.refreshToken);
  t.deepEqual([refreshKidOf(again), refreshKidOf(next)], [before.refresh, after.refresh]);
  // and a password that was hashed with the old pepper signs in and is hashed again with the new one
  t.is(await pepperOf(services, ada.userId), before.pepper);
  await client.login('ada@example.org', password);
  t.is(await pepperOf(services, ada.userId), after.pepper);
  await client.login('ada@example.org', password);
  t.is(
    (await client.post('/api/v1/auth/login', { email: 'ada@example.org', password: 'Wrong-1' })).status,
    401,
  );

  // When the data keys are rewrapped, and the old keys are retired as soon as that is allowed
  t.like(await operateOn(services, 'keys rewrap', {}), {
    rewrapped: 2,
    data_keys: { [after.master]: 2 },
  });
  clock.advance(3 * dayMs + minuteMs);
  for (const ring of ['jwt', 'code', 'master'] as const) {
    await operateOn(services, 'keys retire', { ring, kid: before[ring], force: false });
    t.deepEqual(pluck(services.keyRings[ring].all(), 'kid'), [after[ring]]);
  }

  // Then users who come back after three days are still signed in, also in a process that has just started
  const restarted = await givenInProcess(t, { directory, clock, stores: services.stores });
  const other = makeServiceClient(restarted.url);
  const back = await refresh(other, bea.refreshToken);
  t.deepEqual([refreshKidOf(back), back.accessKid], [after.refresh, after.jwt]);
  t.like((await other.get('/api/v1/auth/me', back.headers)).json(), { data: { email: 'bea@example.org' } });
  await other.login('bea@example.org', password);
  t.is(await pepperOf(restarted.services, bea.userId), after.pepper);
});

test('A code that was mailed before a rotation signs in after it, and the next code has the new key', async (t) => {
  // Given a mailed code
  const smtp = await givenSmtpServer(t);
  const clock = settableClock();
  const environment = { SMTP_URL: smtp.url };
  const service = await givenInProcess(t, { clock, environment });
  const { services } = service;
  const client = makeServiceClient(service.url);
  await client.register('ada@example.org', password);
  const codes = new Set<string>();
  const mailCode = async (): Promise<string> => {
    t.is((await client.post('/api/v1/auth/email-code/send', { email: 'ada@example.org' })).status, 200);
    const mailed = (): readonly string[] =>
      smtp.mails.flatMap(({ email: { text = '' } }) => /(?<!\d)\d{6}(?!\d)/.exec(text) ?? []);
    // The first sign-in causes a notice too.
    await eventually('a further code is mailed', () => mailed().length > codes.size);
    const code = mailed().at(-1) ?? '';
    codes.add(code);
    return code;
  };
  const signIn = (code: string): Promise<ServiceReply> =>
    client.post('/api/v1/auth/email-code/login', { email: 'ada@example.org', code });
  const issuedWith = async (): Promise<string | undefined> => {
    const digest = services.digests.email('ada@example.org');
    return newestIssue((await services.handler.load(loginCodeAggregate, digest)).state)?.code_key_id;
  };
  const mailed = await mailCode();
  const before = kidsOf(services).code;
  t.is(await issuedWith(), before);

  // When an operator rotates the ring of codes
  const kid = textOf(await operateOn(services, 'keys add', { ring: 'code' }), 'kid');
  await operateOn(services, 'keys promote', { ring: 'code', kid, now: true });

  // Then the code signs in, once
  t.is((await signIn(mailed)).status, 200);
  t.is((await signIn(mailed)).status, 401);
  // and the next code has the new key; the old key is retired when none of its codes is valid any more, also none that
  // undoes a change of address
  const retire = () => operateOn(services, 'keys retire', { ring: 'code', kid: before, force: false });
  clock.advance(3 * dayMs);
  await t.throwsAsync(retire(), { message: /still needed: .* are valid for 72 hours/ });
  clock.advance(minuteMs);
  // A second later the watch would have read it without SIGHUP.
  await services.generations.refresh();
  await retire();
  const next = await mailCode();
  t.is(await issuedWith(), kid);
  t.is((await signIn(next)).status, 200);
});

interface Refreshed {
  readonly refreshToken: string;
  readonly accessKid: string;
  readonly headers: SignedIn['headers'];
}

async function refresh(client: ServiceClient, refreshToken: string): Promise<Refreshed> {
  const reply = await client.post('/api/v1/auth/refresh', { refresh_token: refreshToken });
  if (reply.status !== 200) throw new Error(`refreshing was answered ${reply.status}: ${reply.text}`);
  const tokens = asObject(asObject(reply.json()['data'])['tokens']);
  const accessToken = textOf(tokens, 'access_token');
  const header: unknown = JSON.parse(
    Buffer.from(accessToken.split('.')[0] ?? '', 'base64url').toString('utf8'),
  );
  return {
    refreshToken: textOf(tokens, 'refresh_token'),
    accessKid: textOf(asObject(header), 'kid'),
    headers: { authorization: `Bearer ${accessToken}` },
  };
}

function refreshKidOf({ refreshToken }: Refreshed): string {
  return refreshToken.split('.')[3] ?? '';
}

function kidsOf({ keyRings }: Services): Readonly<Record<RingName, string>> {
  const { jwt, master, refresh: refreshRing, code, pepper, audit } = keyRings;
  return {
    jwt: jwt.active().kid,
    master: master.active().kid,
    refresh: refreshRing.active().kid,
    code: code.active().kid,
    pepper: pepper.active().kid,
    audit: audit.active().kid,
  };
}

/** Returns the pepper that a user's stored password hash names. */
async function pepperOf({ handler, sealer }: Services, userId: string): Promise<string> {
  const { state } = await handler.load(userAggregate, userId);
  if (state.status !== 'registered') throw new Error(`${userId} is ${state.status}`);
  if (state.password_hash === null) return 'none';
  const hash = await sealer.open({ kind: 'person', userId }, 'password_hash', state.password_hash);
  return /keyid=([^$]+)\$/.exec(String(hash))?.[1] ?? '';
}

/** Returns the id of the key that signed a token. */
function kidOf(token: string): string {
  const header = Buffer.from(token.split('.')[0] ?? '', 'base64url').toString();
  return textOf(asObject(JSON.parse(header)), 'kid');
}

test('Commands rotate keys while the service runs, and take effect at once', async (t) => {
  // Given a service with a signed-in user
  const directory = givenDirectory(t);
  const service = await givenService(t, { directory });
  const client = makeServiceClient(service.url);
  const ada = await client.register('ada@example.org', 'Correct-Horse-7');
  const keyFile = join(directory, 'keys.json');
  const keysOf = (text: string): string[] =>
    [...text.matchAll(/"(?:[A-Za-z0-9-]+:)?([A-Za-z0-9_-]{43})"/g)].map(([, key]) => key ?? '');
  const everyKey = new Set(keysOf(readFileSync(keyFile, 'utf8')));
  const outputs: string[] = [];
  const run = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
    const result = await runCli(directory, ['keys', ...args]);
    outputs.push(result.stdout, result.stderr);
    for (const key of keysOf(readFileSync(keyFile, 'utf8'))) everyKey.add(key);
    return result;
  };
  const kidIn = (output: string): string => textOf(asObject(JSON.parse(output)), 'kid');

  // When a key is added, then the service publishes it at once, well before it signs
  const jwt = kidIn((await run('add', 'jwt', '--json')).stdout);
  const published = await client.get('/.well-known/jwks.json');
  t.is(published.headers.get('cache-control'), 'public, max-age=30');
  t.deepEqual(
    (published.json()['keys'] as { kid: string }[]).map(({ kid }) => kid),
    [kidOf(ada.accessToken), jwt],
  );
  const early = await run('promote', 'jwt');
  t.is(early.code, 1);
  t.regex(early.stderr, /^stowage: it was added \d s ago; .*--now promotes it all the same \(too_early\)\n$/);

  // When it is promoted, then it signs, and earlier tokens are still valid
  t.is((await run('promote', 'jwt', '--now')).code, 0);
  const bea = await client.register('bea@example.org', 'Correct-Horse-7');
  t.is(kidOf(bea.accessToken), jwt);
  for (const { headers } of [ada, bea]) t.is((await client.get('/api/v1/auth/me', headers)).status, 200);

  // When the master key is rotated, then every data key is wrapped with the new one
  const master = textOf(asObject(await operate(directory, 'keys add', { ring: 'master' })), 'kid');
  await operate(directory, 'keys promote', { ring: 'master', kid: master, now: true });
  t.deepEqual(JSON.parse((await run('rewrap', '--json')).stdout), {
    rewrapped: 2,
    unreadable: 0,
    data_keys: { [master]: 2 },
  });
  t.like((await client.get('/api/v1/auth/me', ada.headers)).json(), { data: { email: 'ada@example.org' } });

  // When the old key is retired, which needs --force, then its tokens are invalid
  const needed = await run('retire', 'jwt', kidOf(ada.accessToken));
  t.regex(needed.stderr, /is still needed: .*10 minutes; --force retires it \(still_needed\)\n$/);
  t.is((await run('retire', 'jwt', kidOf(ada.accessToken), '--force')).code, 0);
  t.is((await client.get('/api/v1/auth/me', ada.headers)).status, 401);
  t.is((await client.get('/api/v1/auth/me', bea.headers)).status, 200);

  // Then the overview names rings and ids, the log names every change, and neither contains a key
  const listed = asObject(JSON.parse((await run('list', '--json')).stdout))['items'];
  t.deepEqual(
    (listed as { ring: string; keys: { active: boolean }[] }[]).map(({ ring, keys }) => [
      ring,
      keys.map(({ active }) => active),
    ]),
    ringNames.map((ring) => [ring, ring === 'master' ? [true, false] : [true]]),
  );
  await t.throwsAsync(operate(directory, 'keys add', { ring: 'nothing' }), {
    message: /^ring must be one of jwt, master/,
  });
  t.is(statSync(keyFile).mode & 0o777, 0o600);
  t.is(await service.stop(), 0);
  const changes = service.output().match(/"ring":"[^}]*"a key was [a-z]+"/g);
  t.deepEqual(changes, [
    `"ring":"jwt","kid":"${jwt}","msg":"a key was added"`,
    `"ring":"jwt","kid":"${jwt}","msg":"a key was promoted"`,
    `"ring":"master","kid":"${master}","msg":"a key was added"`,
    `"ring":"master","kid":"${master}","msg":"a key was promoted"`,
    `"ring":"jwt","kid":"${kidOf(ada.accessToken)}","msg":"a key was retired"`,
  ]);

  // and the same holds when no service runs and the command opens the stores: its output is its result alone
  t.like(JSON.parse((await run('rewrap', '--json')).stdout), { rewrapped: 0, data_keys: { [master]: 2 } });
  t.is(everyKey.size, 9);
  for (const key of everyKey) {
    t.false([...outputs, service.output()].some((text) => text.includes(key)));
  }
});
