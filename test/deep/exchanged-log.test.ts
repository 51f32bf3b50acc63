import test from 'ava';
import { makeSemaphore } from '../../src/kit/semaphore.js';
import { exchangeLog, exchanges, moments, strikes, strikeStream } from '../support/servers/exchanged-logs.js';

/* The log of a service with embedded read models is exchanged, or loses events. `test/servers` does so with MongoDB. */
const stores = {};
/** Services that run at once, so that the machine keeps up with them. */
const atOnce = makeSemaphore(4);

for (const moment of moments) {
  for (const exchange of exchanges) {
    test(`The service ends with a sentence, and acknowledges nothing, when ${exchange.what} replaces its log ${moment}`, async (t) => {
      t.timeout(30 * 60_000);
      await atOnce.run(() => exchangeLog(t, exchange, { moment, stores }));
    });
  }
  for (const strike of strikes) {
    test(`The service names a stream that loses events by ${strike.what} ${moment}, and serves the others`, async (t) => {
      t.timeout(30 * 60_000);
      await atOnce.run(() => strikeStream(t, strike, { moment, stores }));
    });
  }
}
