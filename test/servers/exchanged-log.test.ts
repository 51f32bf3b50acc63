import test from 'ava';
import { makeSemaphore } from '../../src/kit/semaphore.js';
import { exchangeLog, exchanges, moments, strikes, strikeStream } from '../support/servers/exchanged-logs.js';
import { makeTestDatabase, mongoDbSuite } from '../support/servers/store-servers.js';

/*
 * The deep test does all of this with embedded read models. DEEP_BUDGET=1 repeats all of it with MongoDB. Without it, logs are
 * exchanged under load, two of them also at a start, and one operation strikes a stream.
 */
const isWhole = Number(process.env['DEEP_BUDGET'] ?? 0) >= 1;
const struck = isWhole ? strikes : strikes.slice(0, 1);
const fewAtStart = ['an older copy', 'the log of another service'];
/** Services that run at once, so that the machine keeps up with them. */
const atOnce = makeSemaphore(4);

mongoDbSuite(test, 'Logs are exchanged under services', () => {
  for (const moment of moments) {
    for (const exchange of exchanges) {
      if (!isWhole && moment === 'at start' && !fewAtStart.includes(exchange.what)) continue;
      test(`A service with MongoDB ends with a sentence, and acknowledges nothing, when ${exchange.what} replaces its log ${moment}`, async (t) => {
        t.timeout(30 * 60_000);
        const { url } = await makeTestDatabase(t);
        await atOnce.run(() => exchangeLog(t, exchange, { moment, stores: { MONGODB_URL: url } }));
      });
    }
    for (const strike of struck) {
      test(`A service with MongoDB names a stream that loses events by ${strike.what} ${moment}, and serves the others`, async (t) => {
        t.timeout(30 * 60_000);
        const { url } = await makeTestDatabase(t);
        await atOnce.run(() => strikeStream(t, strike, { moment, stores: { MONGODB_URL: url } }));
      });
    }
  }
});
