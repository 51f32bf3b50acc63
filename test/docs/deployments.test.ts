import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test from 'ava';
import { z } from 'zod';
import { readConfig } from '../../src/config/config.js';
import { clone, read } from './documents.js';

/* The recipes in deploy/kubernetes and deploy/server. */
const { safeLoadAll } = createRequire(import.meta.url)('js-yaml') as {
  readonly safeLoadAll: (text: string) => readonly unknown[];
};

const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const workload = z.object({
  kind: z.enum(['Deployment', 'StatefulSet']),
  spec: z.object({
    template: z.object({
      spec: z.object({
        terminationGracePeriodSeconds: z.int(),
        securityContext: z.object({ runAsUser: z.int(), runAsNonRoot: z.literal(true) }),
        containers: z.tuple([
          z.object({
            env: z.array(z.object({ name: z.string(), value: z.string() })),
            ports: z.array(z.object({ name: z.string(), containerPort: z.int() })),
            securityContext: z.object({ readOnlyRootFilesystem: z.literal(true) }),
            startupProbe: probe,
            readinessProbe: probe,
            volumeMounts: z.array(z.object({ mountPath: z.string(), readOnly: z.boolean().optional() })),
          }),
        ]),
      }),
    }),
  }),
});

/** The drain (5 s) and the shutdown (25 s): docs/operate.md#stop. */
const endSeconds = 30;
const manifests = ['deploy/kubernetes/one-process.yaml', 'deploy/kubernetes/several-processes.yaml'];
const imageEnvironment = { NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '8080' };

for (const file of manifests) {
  test(`The service of ${file} is probed, may not write to its root, and has time to end`, (t) => {
    const found = safeLoadAll(read(file)).find((document) => workload.safeParse(document).success);
    const { terminationGracePeriodSeconds, securityContext, containers } =
      workload.parse(found).spec.template.spec;
    const [{ env, ports, startupProbe, readinessProbe, volumeMounts }] = containers;
    t.true(terminationGracePeriodSeconds > endSeconds);
    // The user `node` of the image, which Dockerfile names.
    t.regex(read('Dockerfile'), /^USER node$/m);
    t.is(securityContext.runAsUser, 1_000);
    for (const { httpGet } of [startupProbe, readinessProbe])
      t.deepEqual(httpGet, { path: '/readyz', port: 'http' });
    t.is(ports.find(({ name }) => name === 'http')?.containerPort, 8_080);
    t.deepEqual(
      volumeMounts.flatMap(({ mountPath, readOnly }) => (readOnly === true ? [] : [mountPath])),
      ['/data'],
    );
    // The files with the URLs are in the cluster alone.
    const inCluster: Readonly<Record<string, string>> = {
      EVENTSTOREDB_URL_FILE: 'kurrentdb+discover://user:password@db.example.org',
      MONGODB_URL_FILE: 'mongodb://db.example.org/stowage',
    };
    const settings = env.map(({ name, value }) => {
      const secret = inCluster[name];
      return secret === undefined ? [name, value] : [name.replace('_FILE', ''), secret];
    });
    const config = readConfig({
      ...imageEnvironment,
      ...(Object.fromEntries(settings) as Record<string, string>),
    });
    t.deepEqual(config.misspelt, []);
    // The group may write to a volume of fsGroup, and the service refuses a data directory that others may write.
    t.regex(config.dataDirectory, /^\/data\/./);
  });
}

test('A second start on the volume opens no file in it to the group', (t) => {
  t.regex(read('deploy/kubernetes/one-process.yaml'), /^ +fsGroupChangePolicy: OnRootMismatch$/m);
});

const validator = spawnSync('kubernetes-validate', ['--version']).status === 0 ? test : test.skip;

validator('kubernetes-validate accepts the manifests', (t) => {
  for (const file of manifests) {
    const { status, stderr } = spawnSync('kubernetes-validate', ['--strict', join(clone, file)], {
      encoding: 'utf8',
    });
    t.is(status, 0, stderr);
  }
});

test('The unit for systemd starts the installed package and waits for its end', (t) => {
  const unit = read('deploy/server/stowage.service');
  const { bin, name } = JSON.parse(read('package.json')) as { name: string; bin: { stowage: string } };
  t.true(
    unit.includes(
      `ExecStart=/usr/bin/node --enable-source-maps /opt/stowage/node_modules/${name}/${bin.stowage} serve\n`,
    ),
  );
  t.true(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]) > endSeconds);
  const settings = (/^Environment=(.*)$/m.exec(unit)?.[1] ?? '').split(' ').map((text) => text.split('='));
  t.is(readConfig(Object.fromEntries(settings) as Record<string, string>).dataDirectory, '/var/lib/stowage');
  const proxied = '127.0.0.1:8080';
  for (const file of ['Caddyfile', 'nginx.conf'])
    t.true(read(`deploy/server/${file}`).includes(proxied), file);
});
