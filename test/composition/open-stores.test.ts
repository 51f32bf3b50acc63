import test from 'ava';
import { pino } from 'pino';
import { makeStoreLinks } from '../../src/composition/opening/store-reports.js';
import { openStores } from '../../src/composition/opening/open-stores.js';
import { readConfig } from '../../src/config/config.js';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { realClock } from '../support/fakes/clock.js';
import { givenDirectory, openLog } from '../support/servers/embedded-directory.js';
import { keyEnvironment } from '../support/servers/service-process.js';

test('A log that cannot be opened ends the start also while MongoDB is away', async (t) => {
  // Given a data directory that another process owns
  const directory = givenDirectory(t);
  const owner = await openLog(directory);
  t.teardown(() => owner.close());
  const environment = { ...keyEnvironment, MONGODB_URL: 'mongodb://127.0.0.1:1/stowage' };
  const config = readConfig({ DATA_DIR: directory, LOG_LEVEL: 'silent', ...environment });
  const waiting = new AbortController();
  t.teardown(() => waiting.abort());
  const opening = openStores({
    ...{ config, clock: realClock, random: Math.random, logger: pino({ enabled: false }) },
    links: makeStoreLinks(config, realClock),
    onFatal: (error) => t.fail(error.message),
    onStreamDamaged: (error) => t.fail(error.message),
    waiting: waiting.signal,
  });
  const late = realClock.sleep(60_000, waiting.signal).then(() => 'still waiting');
  const error = await t.throwsAsync(Promise.race([opening, late]), { instanceOf: StoreUnavailable });
  t.regex(error.message, /is in use by another process/);
});
