import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test from 'ava';
import { readConfig } from '../../src/config/config.js';
import { readCompose, servicesOf } from './compose-files.js';
import { clone, read } from './documents.js';

/* The package has no types. */
const Ajv = createRequire(import.meta.url)('ajv') as new (options: object) => {
  compile(schema: unknown): { (value: unknown): boolean; readonly errors?: unknown };
};

const files = ['docker-compose.yml', 'compose.cluster.yaml'] as const;

for (const file of files) {
  test(`The file ${file} fits the schema of the Compose Specification`, (t) => {
    const schema = JSON.parse(read('test/support/examples/compose-spec.schema.json')) as object;
    // The validator knows the draft by its identifier with http only.
    const known = { ...schema, $schema: 'http://json-schema.org/draft-07/schema#' };
    // The formats concern durations, which the validator does not know.
    const validate = new Ajv({ unknownFormats: 'ignore' }).compile(known);
    t.true(validate(readCompose(file)), JSON.stringify(validate.errors));
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
