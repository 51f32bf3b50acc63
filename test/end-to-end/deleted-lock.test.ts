import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { freePort, spawnService, givenDirectory, givenService } from '../support/servers/service-process.js';

test('A service whose lock.db was deleted keeps others out, and ends with a sentence', async (t) => {
  // Given a running service that stands still, so that it cannot notice the loss
  const directory = givenDirectory(t);
  const start = { directory, port: await freePort() };
  const first = await givenService(t, start);
  first.signal('SIGSTOP');
  // When its lock.db is deleted and another service starts on its data
  await rm(join(directory, 'lock.db'));
  const second = spawnService({ ...start, port: await freePort() });
  t.teardown(() => second.kill());
  // Then the other one refuses
  t.is(await second.exited, 1, second.output());
  t.regex(second.output(), /in use by another process\. Stop that one first/);
  // and the first one ends as soon as it notices
  first.signal('SIGCONT');
  t.is(await first.exited, 1, first.output());
  t.regex(first.output(), /lock\.db was deleted or replaced .* start the service again/);
  t.notRegex(first.output(), /^\s+at /m, 'a stack trace');
  // and the directory serves again
  const next = await givenService(t, start);
  t.is(await next.stop(), 0);
});

test('A service whose lock.db was replaced by a copy ends with a sentence', async (t) => {
  const directory = givenDirectory(t);
  const service = await givenService(t, { directory });
  const lock = join(directory, 'lock.db');
  await cp(lock, `${lock}.copy`);
  await rename(`${lock}.copy`, lock);
  t.is(await service.exited, 1, service.output());
  t.regex(service.output(), /lock\.db was deleted or replaced/);
});
