import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test from 'ava';
import { z } from 'zod';
import { readConfig } from '../../src/config/config.js';
import { makeServiceClient } from '../support/clients/service-client.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { freePort, makeDataDirectory, runCli, startService } from '../support/servers/service-process.js';
import { clone, read } from './documents.js';

/* The packages have no types. */
const require = createRequire(import.meta.url);
const { safeLoad } = require('js-yaml') as { readonly safeLoad: (text: string) => unknown };
const Ajv = require('ajv') as new (options: object) => {
  compile(schema: unknown): { (value: unknown): boolean; readonly errors?: unknown };
};

const service = z.object({
  image: z.string(),
  command: z.union([z.string(), z.array(z.string())]).optional(),
  entrypoint: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  env_file: z.unknown().optional(),
  profiles: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.object({ test: z.array(z.string()).optional() }).optional(),
});
const composed = z.object({
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
});

const files = ['docker-compose.yml', 'compose.cluster.yaml'] as const;

/** Compose reads YAML 1.2 and merges, which this parser also does. */
const servicesOf = (file: string) => composed.parse(safeLoad(read(file)));

for (const file of files) {
  test(`The file ${file} fits the schema of the Compose Specification`, (t) => {
    const schema = JSON.parse(read('test/support/examples/compose-spec.schema.json')) as object;
    // The validator knows the draft by its identifier with http only.
    const known = { ...schema, $schema: 'http://json-schema.org/draft-07/schema#' };
    // The formats concern durations, which the validator does not know.
    const validate = new Ajv({ unknownFormats: 'ignore' }).compile(known);
    t.true(validate(safeLoad(read(file))), JSON.stringify(validate.errors));
    t.false(validate({ services: { a: { imaeg: 'b' } } }), 'the schema refuses what it does not know');
  });

  test(`Every folder, volume and service that ${file} names exists, and no port is open to other machines`, (t) => {
    const { services, volumes } = servicesOf(file);
    for (const [name, { volumes: mounts, depends_on: others, ports, env_file: variables }] of Object.entries(
      services,
    )) {
      t.is(variables, undefined, `${name} needs no file of variables`);
      for (const mount of mounts) {
        const [source = ''] = mount.split(':');
        t.true(source.startsWith('./') ? existsSync(join(clone, source)) : source in volumes, mount);
      }
      for (const port of ports) t.regex(port, /^127\.0\.0\.1:/);
      for (const [other, { condition }] of Object.entries(others)) {
        t.true(other in services, other);
        // The image of the service has a health check.
        const hasCheck = /^stowage\d?$/.test(other) || services[other]?.healthcheck?.test !== undefined;
        t.true(condition !== 'service_healthy' || hasCheck, other);
      }
    }
  });

  test(`The service accepts the settings of ${file}`, (t) => {
    const processes = Object.entries(servicesOf(file).services).filter(([name]) => /^stowage\d?$/.test(name));
    t.is(processes.length, file === 'compose.cluster.yaml' ? 2 : 1);
    for (const [, { environment }] of processes) {
      const config = readConfig({ NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '8080', ...environment });
      t.is(config.keysFile, '/keys/keys.json');
      t.truthy(config.eventStoreDbUrl);
      t.truthy(config.mongoDbUrl);
      t.true(config.mailConfigured);
    }
  });
}

test('The one-shots of compose.cluster.yaml make keys and certificates, and the service serves with them over TLS', async (t) => {
  // Given the commands of the file, with folders of this test in place of volumes
  const { services } = servicesOf('compose.cluster.yaml');
  const folder = await makeDataDirectory();
  t.teardown(() => folder.remove());
  const certificates = join(folder.path, 'certificates');
  const here = (text: string): string =>
    text.replaceAll('/certificates', certificates).replaceAll('/keys/', `${folder.path}/keys/`);
  const read509 = (name: string): Buffer => readFileSync(join(certificates, `${name}.crt`));
  // When the one-shots run twice, as in two starts
  const nodes = wordsOf(services['certificates']?.command).slice(1);
  t.deepEqual(services['certificates']?.entrypoint, ['/bin/sh', '/make-certificates.sh']);
  const script = join(clone, 'deploy/cluster/make-certificates.sh');
  const makeThem = () => execFileSync('/bin/sh', [script, certificates, ...nodes], { stdio: 'pipe' });
  makeThem();
  const made = read509('kurrentdb1');
  makeThem();
  t.deepEqual(read509('kurrentdb1'), made);
  const [node, program, ...args] = wordsOf(services['keys']?.command);
  t.deepEqual([node, program], ['node', 'dist/cli.js']);
  for (const expected of [true, false]) {
    const { stdout } = await runCli(folder.path, ['--json', ...args.map(here)]);
    t.is((JSON.parse(stdout) as { made: boolean }).made, expected);
  }
  // Then each certificate is of the authority, and names its node and address
  const authority = new X509Certificate(read509('ca/ca'));
  for (const [name = '', address = ''] of nodes.map((argument) => argument.split('='))) {
    const own = new X509Certificate(read509(name));
    t.true(own.verify(authority.publicKey), name);
    t.deepEqual([own.checkHost(name), own.checkIP(address)], [name, address]);
  }
  // Then a process with the file's settings serves over TLS; the node answers on this machine
  const key = readFileSync(join(certificates, 'kurrentdb1.key'));
  const eventStore = await startEventStoreDbServer({ tls: { certificate: made, key } });
  t.teardown(() => eventStore.close());
  const { EVENTSTOREDB_URL: url = '', KEYS_FILE: file = '' } = services['stowage1']?.environment ?? {};
  const started = await startService({
    directory: join(folder.path, 'data'),
    port: await freePort(),
    environment: {
      KEYS_FILE: here(file),
      EVENTSTOREDB_URL: here(url.replace(/@[^?]*/, `@localhost:${eventStore.port}`)),
    },
  });
  t.teardown(() => started.kill());
  await makeServiceClient(started.url).register('ada@example.org', 'Correct-Horse-7');
  t.is(await started.stop(), 0);
});

/** The words of a command that the file gives as a list. */
function wordsOf(command: string | readonly string[] | undefined): readonly string[] {
  if (typeof command === 'string' || command === undefined) throw new Error('the command is no list');
  return command;
}

test('The health check of the image is a command that ends with 0 while the service is ready, and with 1 while it is not', async (t) => {
  const [, json = ''] = /HEALTHCHECK [^\\]*\\\s+CMD (\[.*\])/.exec(read('Dockerfile')) ?? [];
  const [program = '', ...args] = JSON.parse(json) as string[];
  const directory = await makeDataDirectory();
  t.teardown(() => directory.remove());
  const port = await freePort();
  const check = (): number => {
    try {
      execFileSync(program, args, { env: { ...process.env, PORT: String(port) }, stdio: 'pipe' });
      return 0;
    } catch (error) {
      return (error as { readonly status: number }).status;
    }
  };
  t.is(check(), 1);
  const started = await startService({ directory: directory.path, port });
  t.teardown(() => started.kill());
  t.is(check(), 0);
});
