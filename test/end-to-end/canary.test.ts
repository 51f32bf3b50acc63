import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import {
  type Canaries,
  findCanaries,
  findCanariesInFiles,
  type Sighting,
} from '../support/examples/canaries.js';
import { givenSharedStores } from '../support/servers/embedded-directory.js';
import {
  asObject,
  makeServiceClient,
  operate,
  type ServiceClient,
  type ServiceReply,
  storageRequest,
  textOf,
} from '../support/clients/service-client.js';
import { givenInProcess, makeKeptLog } from '../support/servers/service-in-process.js';
import { givenSmtpServer } from '../support/servers/smtp-server.js';
import { freePort, runCli, givenDirectory, givenService } from '../support/servers/service-process.js';

/** Secrets and personal data as users send them, in right and wrong places. */
const given = {
  email: 'canary.mail@example.org',
  nickname: 'CanaryNickname',
  invitedEmail: 'canary.invited@example.org',
  password: 'Canary-Password-41',
  weakPassword: 'canaryweakpassword',
  accessKey: 'AKIACANARYACCESSKEY',
  secretKey: 'canary/Secret+Key/7f3a',
  agentSecret: 'canary-agent-secret',
  wrongAgentSecret: 'canary-wrong-agent-secret',
  wrongToken: 'canary.wrong.token',
  wrongApiKey: 'stw_canarywrongapikey',
  clientAddress: '198.51.100.77',
};
/** Values that the service stores in clear: the search must find them, or it would miss the others too. */
const control: Canaries = { 'project name': Buffer.from('canary project name') };

test('Secrets and personal data stand in replies, log lines and files only sealed', async (t) => {
  // Given a served process that can send mail
  const smtp = await givenSmtpServer(t);
  const directory = givenDirectory(t);
  const start = {
    directory,
    port: await freePort(),
    environment: {
      NODE_AGENT_SECRET: given.agentSecret,
      TRUSTED_PROXIES: '127.0.0.0/8',
      LOG_LEVEL: 'debug',
      SMTP_URL: smtp.url,
    },
  };
  const service = await givenService(t, start);
  const replies: { readonly place: string; readonly bytes: Buffer }[] = [];
  const client = recordReplies(makeServiceClient(service.url), replies);

  // When a client goes through the whole path and makes every kind of mistake
  const tokens = await goWholePath(t, client, directory);
  const apiKey = await inviteAndIssue(t, makeServiceClient(service.url), tokens);
  await smtp.received(1);
  await makeMistakes(client, tokens.accessToken, tokens.storages);
  replies.push({ place: 'raw replies', bytes: await sendBroken(start.port) });
  await service.kill();
  const canaries = { ...given, apiKey, accessToken: tokens.accessToken, refreshToken: tokens.refreshToken };
  const secrets = {
    ...Object.fromEntries(Object.entries(canaries).map(([name, value]) => [name, Buffer.from(value)])),
    'signature of the access token': Buffer.from(tokens.accessToken.split('.')[2] ?? ''),
    'the API key without what is shown of it': Buffer.from(apiKey.slice(8, -4)),
    'a password hash': Buffer.from('$scrypt$'),
    ...(await keysOf(directory)),
  };

  // Then no reply to another caller, log line or file contains one
  const seen: Sighting[] = replies.flatMap(({ place, bytes }) => findCanaries(secrets, place, bytes));
  seen.push(...findCanaries(secrets, 'log', Buffer.from(service.output())));
  seen.push(...(await findCanariesInFiles(secrets, directory, ['keys.json'])));
  t.deepEqual(seen, []);
  // and the search finds values that are stored in clear, also before SQLite copies them out of the write-ahead log
  const found = await findCanariesInFiles(control, directory);
  t.true(found.some(({ place }) => place.startsWith('events.db')));

  // and the same holds after another start and an ordinary shutdown
  const again = await givenService(t, start);
  const me = await makeServiceClient(again.url).get('/api/v1/auth/me', {
    authorization: `Bearer ${tokens.accessToken}`,
  });
  t.like(me.json(), { data: { email: given.email, nickname: given.nickname } });
  t.is(await again.stop(), 0);
  t.deepEqual(findCanaries(secrets, 'log', Buffer.from(again.output())), []);
  t.deepEqual(await findCanariesInFiles(secrets, directory, ['keys.json']), []);
});

test('An unexpected failure answers 500 without detail and logs a line without the message', async (t) => {
  // Given a service whose state store fails unexpectedly after the start, with a secret in the message of the error
  const directory = givenDirectory(t);
  const stores = await givenSharedStores(t, directory);
  let broken = false;
  const { stateStore } = stores;
  const orFail = <Result>(call: () => Promise<Result>): Promise<Result> =>
    broken ? Promise.reject(new Error(`cannot parse ${given.secretKey}`)) : call();
  const get: typeof stateStore.get = (...request) => orFail(() => stateStore.get(...request));
  const compareAndSet: typeof stateStore.compareAndSet = (...request) =>
    orFail(() => stateStore.compareAndSet(...request));
  const { lines, log } = makeKeptLog();
  const failing = { ...stores, stateStore: { ...stateStore, get, compareAndSet } };
  const service = await givenInProcess(t, { directory, stores: failing, log });
  // When a client registers
  broken = true;
  const { email, password } = given;
  const reply = await makeServiceClient(service.url).post('/api/v1/auth/register', { email, password });
  // Then
  t.is(reply.status, 500);
  t.deepEqual(reply.json(), { code: 'internal_error', message: 'the service failed to answer' });
  t.true(lines.some((line) => line.includes('request failed')));
  const secrets = { secretKey: Buffer.from(given.secretKey), password: Buffer.from(password) };
  t.deepEqual(findCanaries(secrets, 'log', Buffer.from(lines.join(''))), []);
});

test('A failed write-through logs no message of the error, and the reply and the reactions go on', async (t) => {
  // Given a service whose documents cannot be written, with a secret in the message of the error
  const directory = givenDirectory(t);
  const stores = await givenSharedStores(t, directory);
  let broken = false;
  const { readModelStore } = stores;
  const write: typeof readModelStore.write = (...request) =>
    broken
      ? Promise.reject(new SyntaxError(`Unexpected token in ${given.secretKey}`))
      : readModelStore.write(...request);
  const { lines, log } = makeKeptLog();
  const failing = { ...stores, readModelStore: { ...readModelStore, write } };
  const service = await givenInProcess(t, { directory, stores: failing, log });
  const client = makeServiceClient(service.url);
  const owner = await client.register(given.email, given.password);
  // When a project is created
  broken = true;
  t.is((await client.post('/api/v1/projects', { name: 'Film' }, owner.headers)).status, 201);
  // Then the log names the place of the failure and not its message
  const line = lines.find((one) => one.includes('the documents of a command were not written')) ?? '';
  t.regex(line, /SyntaxError at /);
  t.deepEqual(
    findCanaries({ secretKey: Buffer.from(given.secretKey) }, 'log', Buffer.from(lines.join(''))),
    [],
  );
});

interface Gone {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Path of the project's storages. */
  readonly storages: string;
}

async function goWholePath(t: ExecutionContext, client: ServiceClient, directory: string): Promise<Gone> {
  const { email, nickname, password } = given;
  const owner = await client.register(email, password, { nickname });
  const projectId = await client.makeProject(owner.headers, String(control['project name']));
  const storages = `/api/v1/projects/${projectId}/storages`;
  const grant = await runCli(directory, ['project', 'grant', projectId, 'allow_s3']);
  t.is(grant.code, 0, grant.stderr);
  await operate(directory, 'user verify', { email });
  await operate(directory, 'platform-role grant', { email, role: 'operator' });
  const headers = {
    ...owner.headers,
    'idempotency-key': 'canary-key',
    'x-forwarded-for': given.clientAddress,
  };
  for (const status of [201, 201]) {
    const bound = await client.post(storages, storage(), headers);
    t.is(bound.status, status, bound.text);
    t.is((await client.get(`${storages}/${textOf(bound.json(), 'id')}`, owner.headers)).status, 200);
  }
  const peers = await client.get('/api/v1/internal/peer-list', { 'x-agent-secret': given.agentSecret });
  t.is(peers.status, 200);
  return { accessToken: owner.accessToken, refreshToken: owner.refreshToken, storages };
}

/** Invites a person and issues an API key; these replies may show the address and the key. @returns the key */
async function inviteAndIssue(
  t: ExecutionContext,
  client: ServiceClient,
  { accessToken, storages }: Gone,
): Promise<string> {
  const headers = { authorization: `Bearer ${accessToken}` };
  const project = storages.replace('/storages', '');
  const invitation = { email: given.invitedEmail, role: 'viewer' };
  t.is((await client.post(`${project}/members`, invitation, headers)).status, 201);
  const issued = await client.post(
    `${project}/api-keys`,
    { name: 'Export', scopes: ['storage:read'] },
    headers,
  );
  const key = textOf(issued.json(), 'key');
  t.is((await client.get(storages, { 'x-api-key': key })).status, 200);
  t.is((await client.get(`${project}/members`, { 'x-api-key': key })).status, 403);
  return key;
}

/** Requests that must fail. Each contains a value that the reply must not repeat. */
async function makeMistakes(client: ServiceClient, accessToken: string, storages: string): Promise<void> {
  const register = '/api/v1/auth/register';
  const { email, password, nickname } = given;
  const account = { email, password, nickname };
  const session = { authorization: `Bearer ${accessToken}` };
  const json = { 'content-type': 'application/json' };
  const raw = (body: string, headers: Readonly<Record<string, string>> = json): RequestInit => {
    return { method: 'POST', headers: { ...headers }, body };
  };
  const text = JSON.stringify(account);
  await Promise.all([
    // The address is taken, the password is refused, values have a wrong type or stand in a wrong place
    client.post(register, account, { 'x-forwarded-for': given.clientAddress }),
    client.post(register, { ...account, password: given.weakPassword }),
    client.post(register, { ...account, password: [password] }),
    client.post(register, { ...account, email: { email } }),
    client.post(register, { ...account, email: `${email} ${email}` }),
    client.post(register, { ...account, secret: given.secretKey }),
    client.post(register, { ...account, nickname: nickname.repeat(20) }),
    // The body is not JSON, incomplete, has a repeated key, is too large or has another type
    client.send(register, raw(text.slice(0, -1))),
    client.send(register, raw(`${text}${text}`)),
    client.send(register, raw(`{"password":"${password}","password":"${password}"}`)),
    client.send(register, raw(`{"email":"${email}","password":"${password}\u0001"}`)),
    client.send(register, raw(`${text}${' '.repeat(70_000)}`)),
    client.send(register, raw(text, { 'content-type': 'text/plain' })),
    client.send(register, raw(`email=${email}&password=${password}`, { 'content-type': email })),
    // The caller sends a wrong credential, or a right one in a wrong place
    client.get('/api/v1/auth/me', { authorization: `Bearer ${given.wrongToken}` }),
    client.get('/api/v1/auth/me', { authorization: `Basic ${given.wrongToken}` }),
    client.get('/api/v1/auth/me', { authorization: accessToken }),
    client.get(`/api/v1/auth/me?access_token=${accessToken}`),
    client.get(`/api/v1/${encodeURIComponent(email)}/${given.agentSecret}`),
    client.get(storages, { 'x-api-key': given.wrongApiKey }),
    client.get('/api/v1/internal/peer-list', { 'x-agent-secret': given.wrongAgentSecret }),
    client.get('/api/v1/internal/peer-list', { cookie: `secret=${given.agentSecret}` }),
    client.get(`/api/v1/internal/peer-list?node_id=${given.agentSecret}`, {
      'x-agent-secret': given.agentSecret,
    }),
    // Storages that cannot be bound, and one Idempotency-Key for two bodies
    client.post(storages, { ...storage(), provider: given.secretKey }, session),
    client.post(storages, { ...storage(), name: '' }, session),
    client.post(storages, { ...storage(), bucket: given.secretKey }, session),
    client.post(storages, { ...storage(), credentials: { access_key: given.accessKey } }, session),
    client.post(storages, { ...storage(), credentials: ` ${given.secretKey}` }, session),
    client.post(
      storages,
      { ...storage(), credentials: { ...credentials, secret_key: ` ${given.secretKey}` } },
      session,
    ),
    client.post(storages, { ...storage(), name: 'other' }, { ...session, 'idempotency-key': 'canary-key' }),
    client.post(storages, storage(), { 'x-api-key': given.wrongApiKey, ...session }),
    // An invitation and an API key with unknown fields
    client.post(`${storages}/../members`, { email: given.invitedEmail, role: given.secretKey }, session),
    client.post(`${storages}/../members`, { email: given.invitedEmail, role: 'viewer', password }, session),
    client.post(`${storages}/../api-keys`, { name: given.secretKey, scopes: [given.secretKey] }, session),
    client.post(`${storages}/../api-keys`, { name: '', key: given.secretKey }, session),
    client.post(storages, storage()),
  ]);
}

const credentials = { access_key: given.accessKey, secret_key: given.secretKey };

function storage() {
  return { ...storageRequest('Rushes'), credentials };
}

/** Bytes that are not HTTP, or a version of HTTP that the service does not speak. */
function sendBroken(port: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const options = { host: '127.0.0.1', port, method: 'POST', path: '/api/v1/auth/register' };
    const headers = { 'x-large': given.password.repeat(1_500), 'content-length': 5 };
    const broken = request({ ...options, headers }, (reply) => {
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => resolve(Buffer.concat(chunks)));
    });
    broken.on('error', reject);
    broken.end('12345');
  });
}

/**
 * Keeps what every call was answered, headers included. The owner's own reply to a registration carries tokens, and it
 * and `me` carry personal data; those are left out.
 */
function recordReplies(
  client: ServiceClient,
  replies: { readonly place: string; readonly bytes: Buffer }[],
): ServiceClient {
  const record = (place: string, reply: ServiceReply): ServiceReply => {
    const bytes = Buffer.from(JSON.stringify([...reply.headers]) + reply.text);
    replies.push({ place: `${place}: ${reply.status}`, bytes });
    return reply;
  };
  return {
    ...client,
    get: async (path, headers) => record('GET', await client.get(path, headers)),
    post: async (path, body, headers) => record('POST', await client.post(path, body, headers)),
    send: async (path, init) => record('POST', await client.send(path, init)),
  };
}

/** Every key of keys.json, as bytes; the search knows how else they may be spelled. */
async function keysOf(directory: string): Promise<Canaries> {
  const file = asObject(JSON.parse(await readFile(join(directory, 'keys.json'), 'utf8')));
  const keys: Record<string, Buffer> = {
    'the index key': Buffer.from(textOf(file, 'index_key'), 'base64url'),
  };
  for (const [ring, entries] of Object.entries(asObject(file['rings']))) {
    for (const entry of Array.isArray(entries) ? entries : []) {
      keys[`a key of ${ring}`] = Buffer.from(String(entry).split(':')[1] ?? '', 'base64url');
    }
  }
  return keys;
}
