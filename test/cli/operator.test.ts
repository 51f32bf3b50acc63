import test from 'ava';
import { withOperator } from '../../src/cli/operator.js';
import { readConfig } from '../../src/config/config.js';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { readRequest } from '../../src/operating/socket/client.js';
import { controlSocketPath, listenForOperators } from '../../src/operating/socket/listen.js';
import { givenDirectory } from '../support/directories.js';

test('A command does not open the stores of a service that has answered it and then ended', async (t) => {
  const config = readConfig({ DATA_DIR: givenDirectory(t) });
  const path = controlSocketPath(config.dataDirectory);
  const service = await listenForOperators(path, (_, response) => {
    response.setHeader('content-type', 'application/json').end('{}');
  });
  const work = withOperator(config, async (ask) => {
    t.like(await ask(readRequest('audit checkpoint')), { ok: true });
    await service.close();
    await ask(readRequest('audit file'));
  });
  await t.throwsAsync(work, { instanceOf: StoreUnavailable, message: /the service has ended/ });
});
