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

test('the public origin of an IPv6 address is bracketed', (t) => {
  t.is(readConfig({ HOST: '::1', PORT: '80' }).publicUrl, 'http://[::1]:80');
});
