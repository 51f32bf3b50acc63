import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { servicesOf } from '../docs/compose-files.js';
import { clone, read } from '../docs/documents.js';
import { makeServiceClient } from '../support/clients/service-client.js';
import { startEventStoreDbServer } from '../support/servers/eventstoredb-server/server.js';
import { freePort, runCli, givenDirectory, givenService } from '../support/servers/service-process.js';

test('The one-shots of compose.cluster.yaml make keys and certificates, and the service serves with them over TLS', async (t) => {
  // Given the commands of the file, with folders of this test in place of volumes
  const { services } = servicesOf('compose.cluster.yaml');
  const folder = givenDirectory(t);
  const certificates = join(folder, 'certificates');
  const here = (text: string): string =>
    text.replaceAll('/certificates', certificates).replaceAll('/keys/', `${folder}/keys/`);
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
    const { stdout } = await runCli(folder, ['--json', ...args.map(here)]);
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
  const started = await givenService(t, {
    directory: join(folder, 'data'),
    environment: {
      KEYS_FILE: here(file),
      EVENTSTOREDB_URL: here(url.replace(/@[^?]*/, `@localhost:${eventStore.port}`)),
    },
  });
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
  const directory = givenDirectory(t);
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
  await givenService(t, { directory, port });
  t.is(check(), 0);
});
