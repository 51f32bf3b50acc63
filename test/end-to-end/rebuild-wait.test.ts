import test from 'ava';
import { givenService, runCli } from '../support/servers/service-process.js';
import { makeServiceClient } from '../support/clients/service-client.js';

test('A rebuild that is waited for ends when readers use the new generation, or says that it goes on', async (t) => {
  // Given a service with an account
  const service = await givenService(t);
  await makeServiceClient(service.url).register('ada@example.org', 'Correct-Horse-9');
  // When an operator waits for no time, then the command says that the rebuild goes on
  const rebuild = (view: string, ...more: readonly string[]) =>
    runCli(service.directory, ['projection', 'rebuild', view, '--wait', ...more]);
  const impatient = await rebuild('orders', '--timeout', '0', '--json');
  t.is(impatient.code, 1);
  t.is((JSON.parse(impatient.stderr) as { code: string }).code, 'still_rebuilding');
  // When an operator waits, then readers use the new generation, and standard error has no bar, since it is no terminal
  const { code, stdout, stderr } = await rebuild('users');
  t.is(code, 0, stderr);
  t.regex(stdout, /^Readers use generation 2 of the view users\. Of 1 compared documents, 0 differ /);
  t.is(stderr, '');
});
