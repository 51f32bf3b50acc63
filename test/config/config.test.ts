import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { ConfigProblem, readConfig } from '../../src/config/config.js';
import { givenDirectory } from '../support/directories.js';

test('An empty environment gives the defaults of one machine', (t) => {
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

test('An empty variable counts as not set', (t) => {
  const config = readConfig({ PORT: '', NODE_AGENT_SECRET: '', EVENTSTOREDB_URL: '' });
  t.is(config.port, 8080);
  t.is(config.secret('NODE_AGENT_SECRET'), undefined);
});

test('A path or a mode with the end of a line of Windows stops the start, which would mean another one', (t) => {
  for (const name of ['DATA_DIR', 'NODE_ENV', 'AUDIT_CHECKPOINT_DIR']) {
    t.throws(() => readConfig({ [name]: 'production\r' }), {
      message: new RegExp(`${name} must have no white space`),
    });
  }
});

test('An empty file of a key or an address stops the start, which would make another key or service', (t) => {
  const file = join(givenDirectory(t), 'secret');
  writeFileSync(file, '\n');
  for (const name of ['EVENTSTOREDB_URL', 'MONGODB_URL', 'SMTP_URL', 'MASTER_KEYS', 'INDEX_KEY']) {
    t.throws(
      () => readConfig({ [`${name}_FILE`]: file }),
      { message: new RegExp(`${name}_FILE names ${file}, which is empty`) },
      name,
    );
  }
  // A secret that another one has replaced, and a list of endpoints, may be empty.
  t.notThrows(() => readConfig({ NODE_AGENT_SECRET_PREVIOUS_FILE: file, WEBHOOK_URLS_FILE: file }));
});

test('A secret in a pipe stops the start, because a second reading would find it empty', (t) => {
  const pipe = join(givenDirectory(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const writer = spawn('sh', ['-c', 'echo k1:canary > "$0"', pipe]);
  t.teardown(() => writer.kill());
  const error = t.throws(() => readConfig({ MASTER_KEYS_FILE: pipe }), { instanceOf: ConfigProblem });
  t.regex(error.message, /MASTER_KEYS_FILE names \S+, which is a pipe; name a file/);
});

test('A file with secrets that every user of the machine may read is named', (t) => {
  const folder = givenDirectory(t);
  const [open, closed] = [join(folder, 'open'), join(folder, 'closed')];
  writeFileSync(open, 'smtp://user:canary@mail.example.org', { mode: 0o644 });
  writeFileSync(closed, 'secret-of-agents', { mode: 0o640 });
  const config = readConfig({ SMTP_URL_FILE: open, NODE_AGENT_SECRET_FILE: closed });
  t.deepEqual(config.exposedSecretFiles, ['SMTP_URL_FILE']);
});

test('A variable whose name is nearly a known one is named with it', (t) => {
  const misspelt = {
    MONGODB_URI: 'MONGODB_URL',
    TRUSTED_PROXYS: 'TRUSTED_PROXIES',
    MASTER_KEY_FILE: 'MASTER_KEYS_FILE',
    STRIPE_WEBHOOK_SECRET: '',
    PROT: '',
    HOME: '',
    HOSTNAME: '',
    PATH: '',
    PORT: '',
    LOG_LEVEL: '',
  };
  const environment = Object.fromEntries(
    Object.keys(misspelt).map((name) => [name, name === 'PORT' ? '1' : 'info']),
  );
  t.deepEqual(
    readConfig(environment).misspelt,
    Object.entries(misspelt).flatMap(([variable, meant]) => (meant === '' ? [] : [{ variable, meant }])),
  );
});

test('The error names every problem at once and contains no secret', (t) => {
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

test('A secret in a file is read again at each use', (t) => {
  const directory = givenDirectory(t);
  const file = join(directory, 'secret');
  writeFileSync(file, 'one-long-agent-secret\n');
  const config = readConfig({ NODE_AGENT_SECRET_FILE: file });
  t.is(config.secret('NODE_AGENT_SECRET'), 'one-long-agent-secret');
  writeFileSync(file, 'two\n');
  t.is(config.secret('NODE_AGENT_SECRET'), 'two');
});

test('Trusted proxies are addresses and ranges, and other texts are refused', (t) => {
  const { trustedProxies } = readConfig({ TRUSTED_PROXIES: '127.0.0.1, ::1 10.0.0.0/8,fd00::/8' });
  t.deepEqual(trustedProxies, ['127.0.0.1', '::1', '10.0.0.0/8', 'fd00::/8']);
  for (const text of ['localhost', '10/8', '10.0.0.0/33', '127.0.0.1,nowhere']) {
    t.throws(
      () => readConfig({ TRUSTED_PROXIES: text }),
      { message: /TRUSTED_PROXIES must be a list of/ },
      text,
    );
  }
});

test('A process drains for 5 s, but not in a development start, and as long as DRAIN_SECONDS says', (t) => {
  t.is(readConfig({}).drainSeconds, 0);
  for (const environment of [
    { HOST: '0.0.0.0' },
    { NODE_ENV: 'production' },
    { PUBLIC_URL: 'https://api.example.org' },
    { TRUSTED_PROXIES: '10.0.0.1' },
    { MONGODB_URL: 'mongodb://db.example.org/stowage' },
  ]) {
    t.is(readConfig(environment).drainSeconds, 5);
    t.is(readConfig({ ...environment, DRAIN_SECONDS: '0' }).drainSeconds, 0);
  }
  t.is(readConfig({ DRAIN_SECONDS: '12' }).drainSeconds, 12);
  for (const text of ['-1', '301', '1.5', 'long']) {
    t.throws(() => readConfig({ DRAIN_SECONDS: text }), {
      message: /DRAIN_SECONDS must be a whole number from 0 to 300/,
    });
  }
});

test('A client may hold 100 connections, or as many as MAX_CONNECTIONS_PER_CLIENT says', (t) => {
  t.is(readConfig({}).maxConnectionsPerClient, 100);
  t.is(readConfig({ MAX_CONNECTIONS_PER_CLIENT: '7' }).maxConnectionsPerClient, 7);
  t.throws(() => readConfig({ MAX_CONNECTIONS_PER_CLIENT: '0' }), { message: /from 1 to 1000/ });
});

test('At most 200 requests run or wait, or as many as MAX_REQUESTS says', (t) => {
  t.is(readConfig({}).maxRequests, 200);
  t.is(readConfig({ MAX_REQUESTS: '1000' }).maxRequests, 1000);
  t.throws(() => readConfig({ MAX_REQUESTS: '19' }), { message: /from 20 to 10000/ });
});

test('NODE_PROBER is a target or nothing, and another value stops the start with a sentence', (t) => {
  t.is(readConfig({ NODE_PROBER: '' }).nodeProber, undefined);
  t.deepEqual(readConfig({ NODE_PROBER: 'tcp:443' }).nodeProber, { scheme: 'tcp', port: 443 });
  for (const wrong of ['udp:53', 'tcp:0', 'https:443', 'http://node/health']) {
    t.throws(() => readConfig({ NODE_PROBER: wrong }), {
      instanceOf: ConfigProblem,
      message:
        /^the configuration has problems:\n {2}NODE_PROBER must be tcp:<port>, http:<port>\/<path> or https:<port>\/<path>, for example tcp:443$/,
    });
  }
});

test('An agent secret of fewer than 16 characters stops the start, and the error does not show it', (t) => {
  for (const name of ['NODE_AGENT_SECRET', 'NODE_AGENT_SECRET_PREVIOUS'] as const) {
    const error = t.throws(() => readConfig({ [name]: 'canary-15-chars' }), { instanceOf: ConfigProblem });
    t.true(error.message.includes(`${name} must have at least 16 characters`), error.message);
    t.false(error.message.includes('canary'));
    const environment = { NODE_AGENT_SECRET: 'let-the-agents-in', [name]: 'let-the-others-in' };
    t.is(readConfig(environment).secret(name), 'let-the-others-in');
  }
});

test('A previous agent secret without a current one stops the start', (t) => {
  t.throws(() => readConfig({ NODE_AGENT_SECRET_PREVIOUS: 'let-the-agents-in' }), {
    message: /NODE_AGENT_SECRET_PREVIOUS needs NODE_AGENT_SECRET;/,
  });
});

test('The URLs of the servers contain passwords, so they may be in files, and they are validated there too', (t) => {
  const directory = givenDirectory(t);
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

test('Limits are read from a file and validated', (t) => {
  const directory = givenDirectory(t);
  const file = join(directory, 'limits.json');
  writeFileSync(file, '{"register": {"limit": 5, "seconds": 60}}');
  t.deepEqual(readConfig({ LIMITS_FILE: file }).limits, { register: { limit: 5, seconds: 60 } });
  writeFileSync(file, '{"register": {"limit": 0, "seconds": 60}}');
  t.throws(() => readConfig({ LIMITS_FILE: file }), { message: /LIMITS_FILE.*register\.limit/s });
});

test('Plans are read from a file and validated, or are the two built-in ones', (t) => {
  const directory = givenDirectory(t);
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

test('The default public origin has brackets around an IPv6 address', (t) => {
  t.is(readConfig({ HOST: '::1', PORT: '80' }).publicUrl, 'http://[::1]:80');
  t.is(readConfig({ HOST: 'fe80::1%eth0', PORT: '80' }).publicUrl, 'http://[fe80::1]:80');
});

test('A HOST that no URL can have is refused by its name', (t) => {
  for (const HOST of [' ', 'a b', 'localhost ', 'localhost:8080', '[::1]', 'http://localhost', 'a/b'])
    t.throws(() => readConfig({ HOST }), { instanceOf: ConfigProblem, message: /HOST must be/ }, HOST);
});

test('The metrics have another port than the service', (t) => {
  for (const ports of [{ METRICS_PORT: '8080' }, { PORT: '9100', METRICS_PORT: '9100' }])
    t.throws(() => readConfig(ports), { message: /METRICS_PORT must be another port than PORT/ });
  t.is(readConfig({ PORT: '0', METRICS_PORT: '0' }).metricsPort, 0);
});

test('Mail has a sender at the public origin unless MAIL_FROM is set', (t) => {
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

test('OPERATOR_MAIL names one to ten addresses, and needs a mail server', (t) => {
  const SMTP_URL = 'smtp://mail.example.org';
  const read = (value: string) => readConfig({ SMTP_URL, OPERATOR_MAIL: value }).operatorMail;
  t.deepEqual(readConfig({ SMTP_URL }).operatorMail, []);
  t.deepEqual(read('ops@example.org, money@example.org'), [
    { name: '', address: 'ops@example.org' },
    { name: '', address: 'money@example.org' },
  ]);
  const many = Array.from({ length: 11 }, (_, n) => `ops${n}@example.org`).join();
  for (const wrong of ['canary', 'canary@example.org,', 'a@b.c,a@b.c', 'Ops <canary@example.org>', many]) {
    const error = t.throws(() => read(wrong), {
      message: /OPERATOR_MAIL must be one to ten different addresses/,
    });
    t.notRegex(error.message, /canary|ops0/);
  }
  t.throws(() => readConfig({ OPERATOR_MAIL: 'ops@example.org' }), {
    message: /OPERATOR_MAIL needs a mail server; set SMTP_URL too/,
  });
});

test('SMTP_URL configures mail, and an error contains no part of its value', (t) => {
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
    'smtp://ma*il.example.org',
  ]) {
    const error = t.throws(
      () => readConfig({ SMTP_URL: wrong }),
      { message: /SMTP_URL must be like/ },
      wrong,
    );
    t.false(error.message.includes('canary'));
  }
});

test('Only a development start on this machine accepts SMTP_URL=log:, and the error names each setting to change', (t) => {
  const log = { SMTP_URL: 'log:' };
  for (const environment of [
    {},
    { HOST: '::1', PORT: '9000', NODE_ENV: 'development', LOG_LEVEL: 'debug' },
    { HOST: 'localhost', PUBLIC_URL: 'http://127.0.0.1:9000/' },
    { PUBLIC_URL: 'http://[::1]:9000' },
  ]) {
    t.like(readConfig({ ...log, ...environment }), { mailConfigured: true, mailsToLog: true });
  }
  t.like(readConfig({ SMTP_URL: 'smtp://localhost:1025' }), { mailConfigured: true, mailsToLog: false });
  const refused: readonly [Readonly<Record<string, string>>, RegExp][] = [
    [{ EVENTSTOREDB_URL: 'esdb://user:canary@localhost:2113' }, /unset EVENTSTOREDB_URL;/],
    [{ MONGODB_URL: 'mongodb://user:canary@localhost' }, /unset MONGODB_URL;/],
    [{ TRUSTED_PROXIES: '127.0.0.1/32' }, /unset TRUSTED_PROXIES;/],
    [{ HOST: '0.0.0.0' }, /set HOST to 127\.0\.0\.1;/],
    [{ PUBLIC_URL: 'https://api.example.org' }, /unset PUBLIC_URL or/],
    [{ PUBLIC_URL: 'https://127.0.0.1.example.org' }, /unset PUBLIC_URL or/],
    [{ NODE_ENV: 'production' }, /set NODE_ENV to another value than production;/],
    [{ HOST: '::', NODE_ENV: 'production' }, /set HOST to .*; set NODE_ENV to/],
    [{ LOG_LEVEL: 'silent' }, /set LOG_LEVEL to info or debug/],
    [{ LOG_LEVEL: 'warn' }, /set LOG_LEVEL to info or debug/],
  ];
  for (const [environment, message] of refused) {
    const error = t.throws(
      () => readConfig({ ...log, ...environment }),
      { instanceOf: ConfigProblem, message },
      JSON.stringify(environment),
    );
    t.regex(error.message, /SMTP_URL=log: .*only a development start/);
    t.false(error.message.includes('canary'));
  }
});

test('A connection string in a file also keeps mails out of the log', (t) => {
  const directory = givenDirectory(t);
  const file = join(directory, 'log');
  writeFileSync(file, 'esdb://localhost:2113\n');
  t.throws(() => readConfig({ SMTP_URL: 'log:', EVENTSTOREDB_URL_FILE: file }), {
    message: /unset EVENTSTOREDB_URL;/,
  });
});

test('Every spelling of PUBLIC_URL gives the same origin', (t) => {
  for (const spelling of [
    'HTTPS://API.example.org',
    'https://api.example.org ',
    'https://api.example.org:443/?#',
  ])
    t.is(readConfig({ PUBLIC_URL: spelling }).publicUrl, 'https://api.example.org', spelling);
});

test('A share is opened by the page, or by a URL that names the token once and not in its host', (t) => {
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

test('Pages of any origin read replies, or those that ALLOWED_ORIGINS names with the pages of the service', (t) => {
  const given = {
    PUBLIC_URL: 'https://api.example.org',
    SHARE_URL_TEMPLATE: 'https://s.example.org/{token}',
  };
  t.is(readConfig(given).corsOrigins, null);
  t.deepEqual(readConfig(given).browserOrigins, ['https://api.example.org', 'https://s.example.org']);
  const named = readConfig({ ...given, ALLOWED_ORIGINS: 'https://app.example.org' });
  const all = ['https://api.example.org', 'https://s.example.org', 'https://app.example.org'];
  t.deepEqual(named.corsOrigins, all);
  t.deepEqual(named.browserOrigins, all);
});
