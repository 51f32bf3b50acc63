import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { packageFile } from '../../src/package-files.js';
import { openServices } from '../../src/composition/services.js';
import { readConfig } from '../../src/config/config.js';
import { sealedSchema } from '../../src/event-sourcing/ports/events.js';
import { erased } from '../../src/keys/sealing/sealer.js';
import { readWholeLog } from '../support/audit/audit-scene.js';
import { readAuditorPages } from '../support/audit/auditor-pages.js';
import {
  asObject,
  grantStorage,
  makeServiceClient,
  operate,
  type ServiceReply,
  type SignedIn,
  signedIn,
  storageRequest,
  textOf,
} from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import {
  drawCanary,
  filesBelow,
  findMarked,
  findMarkedIn,
  type MarkedCanary,
} from '../support/examples/marked-canaries.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { withoutLimits, givenService, givenDirectory, runCli } from '../support/servers/service-process.js';

/*
 * People register with canaries in place of personal data, use a real service, and are erased. No canary stands in a file,
 * reply or line of the log, and the audit log verifies before and after. DEEP_SEED=<printed> repeats the choices.
 * DEEP_BUDGET multiplies the number of people.
 */
const seed = Number(process.env['DEEP_SEED'] ?? '20260102');
const budget = Number(process.env['DEEP_BUDGET'] ?? '1');
const people = Math.max(12, Math.ceil(1_000 * budget));
const workers = 4;
const ownerPassword = 'Correct-Horse-9';
/** People whom the command line erases; each call is a process. The control socket serves the other operators' erasures. */
const erasedByCli = 5;
const verifier = fileURLToPath(packageFile('dist/verify.js'));

/** A busy machine makes the service refuse calls for a moment. */
async function patiently(call: () => Promise<ServiceReply>): Promise<ServiceReply> {
  for (let attempt = 0; ; attempt += 1) {
    const reply = await call().catch((error: unknown) => {
      // A connection may end between two requests. The reply of the repeated call shows whether the first one had an effect.
      if (attempt === 120 || !(error instanceof TypeError)) throw error;
      console.error(error.cause);
      return null;
    });
    if (reply !== null && (reply.status !== 503 || attempt === 120)) return reply;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

interface Person {
  readonly number: number;
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly from: Readonly<Record<string, string>>;
}

test(`After ${people} erasures no canary is in log, views, state, exports, the auditor's pages or logs, and the audit log verifies`, async (t) => {
  t.timeout(60 * 60_000 * Math.max(1, budget));
  t.log(`DEEP_SEED=${seed}`);
  const data = givenDirectory(t);
  const files = givenDirectory(t);
  const environment = {
    ...withoutLimits(t),
    TRUSTED_PROXIES: '127.0.0.0/8',
    LOG_LEVEL: 'debug',
  };
  const service = await givenService(t, { directory: data, environment });
  const once = makeServiceClient(service.url);
  const client: typeof once = {
    ...once,
    get: (...request) => patiently(() => once.get(...request)),
    post: (...request) => patiently(() => once.post(...request)),
    send: (...request) => patiently(() => once.send(...request)),
  };
  const random = makeSeededRandom(seed);
  const canaries = new Set<string>();
  const addresses = new Set<string>();
  const outputs: string[] = [];
  const cli = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCli(data, args, environment);
    t.is(code, 0, stderr);
    outputs.push(stdout, stderr);
    return stdout;
  };
  const draw = (): MarkedCanary => {
    const canary = drawCanary(random);
    canaries.add(canary.drawn);
    return canary;
  };
  let owner = await client.register('owner@example.org', ownerPassword);
  let ownerSince = performance.now();
  // A text that is stored in clear shows that the search would find one.
  const { drawn: controlName } = drawCanary(random);
  // The members of a project are limited, so each hundred people have another project in common.
  const commonProjects: string[] = [];
  for (let made = 0; made * 100 < people; made += 1) {
    const project = await client.post('/api/v1/projects', { name: controlName }, owner.headers);
    commonProjects.push(textOf(project.json(), 'id'));
  }

  // Given people with canaries as address, name, password, client and network, who do things
  const inParallel = async <Item>(
    items: readonly Item[],
    act: (item: Item) => Promise<void>,
  ): Promise<void> => {
    const waiting = [...items];
    await Promise.all(
      Array.from({ length: workers }, async () => {
        for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await act(item);
      }),
    );
  };
  const persons: Person[] = [];
  await inParallel(
    Array.from({ length: people }, (_, number) => number),
    async (number) => {
      persons.push(await live(number));
    },
  );
  await signed();
  await cli('audit', 'export', join(files, 'before'));
  writeFileSync(join(files, 'auditor.vkey'), await cli('audit', 'key'));
  t.regex(await verify('before'), /^VERIFIED$/m);

  // When all of them are erased, by themselves and by an operator
  await inParallel(persons, erase);
  await signed();
  await cli('audit', 'export', join(files, 'after'));

  // Then the log verifies, and continues the one of before
  const verdict = await verify('after', '--kept', join(files, 'before'));
  t.regex(verdict, /^VERIFIED$/m);
  t.regex(verdict, /^Kept: \d+ events$/m);
  // and no canary is anywhere
  const streams = persons.map(({ id }) => `user-${id}`);
  const pages = await readAuditorPages(client, data, streams);
  t.true(pages.events > people * 3, `${pages.events} events`);
  await service.stop();
  const sought = { canaries, addresses };
  const output = service.output();
  const searched = [...filesBelow(data), ...filesBelow(files)];
  t.deepEqual(
    [
      ...searched.flatMap((file) => findMarkedIn(sought, file)),
      ...findMarked(sought, 'log', Buffer.from(output)),
      ...findMarked(sought, 'pages of the auditor', Buffer.from(pages.text)),
      ...findMarked(sought, 'output of commands', Buffer.from(outputs.join(''))),
    ],
    [],
  );
  // and the search finds text that is stored in clear, in the log, a view, both exports and the auditor's pages
  const control = new Set([controlName]);
  t.true(pages.text.includes(controlName));
  for (const name of ['events.db', 'read-models.db', 'before', 'after']) {
    const some = searched.filter((file) => file.includes(name));
    const found = some.flatMap((file) => findMarkedIn({ canaries: control, addresses: new Set() }, file));
    t.true(found.length > 0, name);
  }
  t.true(searched.some((file) => file.endsWith('state.db')) && output.includes('/api/v1/auth/register'));
  await valuesStayClosed();
  t.log({ people: persons.length, canaries: canaries.size, files: searched.length });

  async function live(number: number): Promise<Person> {
    const [email, nickname, agent, password] = [draw(), draw(), draw(), draw()] as const;
    const address = `11.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
    addresses.add(address);
    const from = { 'user-agent': agent.text, 'x-forwarded-for': address };
    const account = { email: `${email.text}@example.org`, password: `${password.text}-9` };
    const registered = await client.post(
      '/api/v1/auth/register',
      { ...account, nickname: nickname.text },
      from,
    );
    t.is(registered.status, 201, registered.text);
    const { userId, headers } = signedIn(registered.json());
    const as = { ...headers, ...from };
    const statuses: number[] = [];
    const chance = random();
    if (chance < 0.3) {
      statuses.push((await client.post('/api/v1/projects', { name: `Film ${number}` }, as)).status);
      statuses.push(
        (await client.post('/api/v1/auth/login', { ...account, password: 'wrong' }, from)).status,
      );
    } else if (chance < 0.6) {
      await operate(data, 'user verify', { email: account.email });
      const common = commonProjects[Math.floor(number / 100)] ?? '';
      const member = { email: account.email, role: 'viewer' };
      const added = await client.post(`/api/v1/projects/${common}/members`, member, await ownerHeaders());
      statuses.push(added.status);
      statuses.push((await client.get(`/api/v1/projects/${common}/members`, as)).status);
    } else if (chance < 0.8) {
      const change = { method: 'PATCH', body: JSON.stringify({ nickname: draw().text }) };
      const json = { ...as, 'content-type': 'application/json' };
      statuses.push((await client.send('/api/v1/auth/me', { ...change, headers: json })).status);
      statuses.push((await client.post('/api/v1/auth/login', account, from)).status);
    } else {
      statuses.push(...(await share(number, as)));
    }
    t.true(
      statuses.every((status) => [200, 201, 204, 401].includes(status)),
      statuses.join(),
    );
    return { number, id: userId, email: account.email, password: account.password, from };
  }

  /** Access tokens live 10 minutes. */
  async function ownerHeaders(): Promise<SignedIn['headers']> {
    if (performance.now() - ownerSince > 5 * 60_000) {
      ownerSince = performance.now();
      owner = await client.login('owner@example.org', ownerPassword);
    }
    return owner.headers;
  }

  /** A project with a storage, an asset and a share, whose password is a canary too. */
  async function share(number: number, as: Readonly<Record<string, string>>): Promise<readonly number[]> {
    const project = await client.post('/api/v1/projects', { name: `Film ${number}` }, as);
    const path = `/api/v1/projects/${textOf(project.json(), 'id')}`;
    await grantStorage(data, textOf(project.json(), 'id'));
    const storage = await client.post(`${path}/storages`, storageRequest('Rushes'), as);
    const asset = await client.post(
      `${path}/assets`,
      {
        ...{ storage_id: textOf(storage.json(), 'id'), name: 'Rhine', object_key: 'rhine.mp4' },
        ...{ media_type: 'video/mp4', size: 1_000 },
      },
      as,
    );
    const body = { asset_id: textOf(asset.json(), 'id'), password: draw().text, max_uses: 3 };
    const shared = await client.post(`${path}/shares`, body, as);
    return [project.status, storage.status, asset.status, shared.status];
  }

  async function erase({ number, id, email, password, from }: Person): Promise<void> {
    if (number < erasedByCli) {
      await cli('user', 'erase', email, '--yes');
    } else if (number % 2 === 0) {
      await operate(data, 'user erase', { user_id: id });
    } else {
      // The access token of the registration may have ended.
      const login = await client.post('/api/v1/auth/login', { email, password }, from);
      const headers = { ...signedIn(login.json()).headers, ...from };
      const deleted = await client.delete('/api/v1/auth/me', headers);
      // 401: the reply to a first call was lost. The sign-in below shows that the account is gone.
      t.true([204, 401].includes(deleted.status), deleted.text);
    }
    const again = await client.post('/api/v1/auth/login', { email, password }, from);
    t.is(again.status, 401, again.text);
  }

  async function signed(): Promise<void> {
    await eventually(
      'everything is signed',
      async () => {
        const status = asObject(await operate(data, 'audit status', {}));
        t.is(status['contradiction'], null);
        return Number(status['size']) > 0 && status['size'] === status['signed_size'];
      },
      { pollMs: 500 },
    );
  }

  function verify(folder: string, ...more: readonly string[]): Promise<string> {
    const args = [verifier, join(files, folder), '--key', join(files, 'auditor.vkey'), ...more];
    return new Promise((done) => {
      execFile(process.execPath, args, (error, stdout, stderr) => {
        t.is(error, null, `${stdout}${stderr}`);
        done(stdout);
      });
    });
  }

  /** The ciphertext stays in the log. The key of each person is destroyed, so none opens. */
  async function valuesStayClosed(): Promise<void> {
    const services = await openServices(readConfig({ DATA_DIR: data, LOG_LEVEL: 'silent' }), {});
    try {
      const events = await readWholeLog(services.stores.eventStore);
      let closed = 0;
      for (const { stream, type, data: values } of events) {
        const userId = stream.replace(/^user-/, '');
        if (type !== 'UserRegistered' || userId === owner.userId) continue;
        for (const field of ['email', 'nickname', 'password_hash'] as const) {
          const sealed = sealedSchema.parse(values[field]);
          if ((await services.sealer.open({ kind: 'person', userId }, field, sealed)) === erased) closed += 1;
        }
      }
      t.is(closed, people * 3);
    } finally {
      await services.close();
    }
  }
});
