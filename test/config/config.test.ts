import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { ConfigProblem, readConfig } from '../../src/config.js';

test('with nothing set, the defaults of one machine hold', (t) => {
  const config = readConfig({});
  t.like(config, {
    host: '127.0.0.1',
    port: 8080,
    publicUrl: 'http://127.0.0.1:8080',
    streamPrefix: 'stowage.',
    defaultCapacityBytes: 1_073_741_824,
    eventStoreDbUrl: undefined,
    mongoDbUrl: undefined,
    metricsPort: undefined,
  });
  t.true(config.dataDirectory.endsWith('/data'));
  t.true(Object.isFrozen(config));
});

test('an empty variable counts as not set', (t) => {
  const config = readConfig({ PORT: '', NODE_AGENT_SECRET: '', EVENTSTOREDB_URL: '' });
  t.is(config.port, 8080);
  t.is(config.secret('NODE_AGENT_SECRET'), undefined);
});

test('every problem is named at once, and no secret with them', (t) => {
  const error = t.throws(
    () =>
      readConfig({
        PORT: '80800',
        EVENTSTOREDB_URL: 'http://example.org',
        TRUSTED_PROXIES: '10.0.0.0/8,everybody',
        PUBLIC_URL: 'https://example.org/path',
        MASTER_KEYS: 'canary-1',
        MASTER_KEYS_FILE: '/nowhere',
        JWT_KEYS_FILE: '/nowhere/at/all',
        LIMITS_FILE: '/nowhere',
        SMTP_URL: 'smtp://user:canary-2@mail.example.org/path',
        MAIL_FROM: 'nobody',
      }),
    { instanceOf: ConfigProblem },
  );
  for (const name of [
    'PORT',
    'EVENTSTOREDB_URL',
    'TRUSTED_PROXIES',
    'PUBLIC_URL',
    'MASTER_KEYS',
    'JWT_KEYS',
    'LIMITS_FILE',
    'SMTP_URL',
    'MAIL_FROM',
  ]) {
    t.true(error.message.includes(name), `${name} is named`);
  }
  t.false(error.message.includes('canary'));
});

test('a secret may stand in a file, and is read anew each time', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'stowage-config-'));
  t.teardown(() => {
    rmSync(directory, { recursive: true });
  });
  const file = join(directory, 'secret');
  writeFileSync(file, 'one\n');
  const config = readConfig({ NODE_AGENT_SECRET_FILE: file });
  t.is(config.secret('NODE_AGENT_SECRET'), 'one');
  writeFileSync(file, 'two\n');
  t.is(config.secret('NODE_AGENT_SECRET'), 'two');
});

test('the URLs of the servers, which hold passwords, may stand in files too, and are checked as well', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'stowage-config-'));
  t.teardown(() => {
    rmSync(directory, { recursive: true });
  });
  const [log, documents] = [join(directory, 'log'), join(directory, 'documents')];
  writeFileSync(log, 'esdb://admin:changeit@log.example.org:2113\n');
  writeFileSync(documents, 'mongodb://app:changeit@documents.example.org\n');
  const config = readConfig({ EVENTSTOREDB_URL_FILE: log, MONGODB_URL_FILE: documents });
  t.is(config.eventStoreDbUrl, 'esdb://admin:changeit@log.example.org:2113');
  t.is(config.mongoDbUrl, 'mongodb://app:changeit@documents.example.org');
  const error = t.throws(() => readConfig({ EVENTSTOREDB_URL_FILE: documents, MONGODB_URL_FILE: log }), {
    instanceOf: ConfigProblem,
    message: /EVENTSTOREDB_URL must be .*\n.*MONGODB_URL must be/,
  });
  t.false(error.message.includes('changeit'));
});

test('limits come from a file, checked', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'stowage-config-'));
  t.teardown(() => {
    rmSync(directory, { recursive: true });
  });
  const file = join(directory, 'limits.json');
  writeFileSync(file, '{"register": {"limit": 5, "seconds": 60}}');
  t.deepEqual(readConfig({ LIMITS_FILE: file }).limits, { register: { limit: 5, seconds: 60 } });
  writeFileSync(file, '{"register": {"limit": 0, "seconds": 60}}');
  t.throws(() => readConfig({ LIMITS_FILE: file }), { message: /LIMITS_FILE.*register\.limit/s });
});

test('plans come from a file, checked, or are the two that are built in', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'stowage-config-'));
  t.teardown(() => {
    rmSync(directory, { recursive: true });
  });
  const file = join(directory, 'plans.json');
  const plan = { id: 'big', name: 'Big', prices: { EUR: 100 }, grants: { capacity_bytes: 5 } };
  const plansOf = (plans: unknown) => {
    writeFileSync(file, JSON.stringify(plans));
    return readConfig({ PLANS_FILE: file }).plans;
  };
  t.deepEqual(
    readConfig({}).plans.map(({ id }) => id),
    ['capacity-100g', 'project-s3'],
  );
  t.deepEqual(plansOf([plan]), [plan]);
  const refused: readonly [unknown, RegExp][] = [
    [[], /PLANS_FILE/],
    [[plan, plan], /two plans have one id/],
    [[{ ...plan, prices: { EUR: 0.5 } }], /0\.prices\.EUR/],
    [[{ ...plan, prices: {} }], /must name a price/],
    [[{ ...plan, prices: { euro: 1 } }], /0\.prices/],
    [[{ ...plan, grants: {} }], /0\.grants/],
  ];
  for (const [plans, message] of refused) t.throws(() => plansOf(plans), { message });
  writeFileSync(file, '[');
  t.throws(() => readConfig({ PLANS_FILE: file }), { message: /PLANS_FILE .* is not JSON/ });
});

test('the public origin of an IPv6 address is bracketed', (t) => {
  t.is(readConfig({ HOST: '::1', PORT: '80' }).publicUrl, 'http://[::1]:80');
});

test('mail is from an address of the public origin unless another one is set', (t) => {
  const from = (environment: Readonly<Record<string, string>>): unknown => readConfig(environment).mailFrom;
  const name = 'Stowage';
  t.deepEqual(from({ PUBLIC_URL: 'https://api.example.org:8443' }), {
    name,
    address: 'no-reply@api.example.org',
  });
  t.deepEqual(from({}), { name, address: 'no-reply@localhost' });
  t.deepEqual(from({ HOST: '::1' }), { name, address: 'no-reply@localhost' });
  t.deepEqual(from({ MAIL_FROM: 'mail@example.org' }), { name: '', address: 'mail@example.org' });
  t.deepEqual(from({ MAIL_FROM: ' "Müller & Co" <mail@example.org>' }), {
    name: 'Müller & Co',
    address: 'mail@example.org',
  });
  for (const wrong of [
    ' ',
    'mail',
    'a@b@c',
    'a b@example.org',
    '<mail@example.org> x',
    'A\nB <a@example.org>',
  ]) {
    t.throws(
      () => from({ MAIL_FROM: wrong }),
      { message: /MAIL_FROM must be an address/ },
      JSON.stringify(wrong),
    );
  }
});

test('mail is configured by SMTP_URL, in a file or not, and no value of it is told', (t) => {
  t.false(readConfig({}).mailConfigured);
  t.true(readConfig({ SMTP_URL: 'smtp://localhost:1025' }).mailConfigured);
  for (const wrong of [
    'mail.example.org',
    'http://mail.example.org',
    'smtp://',
    'smtp://us%er:canary@mail.example.org',
    'smtp://user@mail.example.org',
    'smtp://:canary@mail.example.org',
    'smtp://mail.example.org/?canary=1',
    'smtp://ma_il.example.org',
  ]) {
    const error = t.throws(
      () => readConfig({ SMTP_URL: wrong }),
      { message: /SMTP_URL must be like/ },
      wrong,
    );
    t.false(error.message.includes('canary'));
  }
});

test('shares are opened by the page, or by a URL that names the token once and not in its host', (t) => {
  const templateOf = (text: string) => readConfig({ SHARE_URL_TEMPLATE: text }).shareUrlTemplate;
  t.is(
    readConfig({ PUBLIC_URL: 'https://api.example.org/' }).shareUrlTemplate,
    'https://api.example.org/s/{token}',
  );
  t.is(templateOf('https://media.example.org/#/{token}'), 'https://media.example.org/#/{token}');
  for (const wrong of [
    'https://media.example.org/s/',
    'https://media.example.org/{token}/{token}',
    'https://{token}.example.org/',
    'ftp://media.example.org/{token}',
    '/s/{token}',
    'https://user@media.example.org/{token}',
  ]) {
    t.throws(() => templateOf(wrong), { instanceOf: ConfigProblem, message: /SHARE_URL_TEMPLATE/ }, wrong);
  }
});
