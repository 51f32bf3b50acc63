import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import test from 'ava';
import { paymentProvider, type PaymentProviderName } from '../../src/areas/payments/domain/payment.js';
import { makePaymentPlatforms } from '../support/clients/payment-platforms.js';
import type { SentCallback } from '../support/clients/sign-callbacks.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { startTestService } from '../support/servers/http-service.js';
import { type Dice, makeDice } from '../support/simulation/fuzz/shapes-and-dice.js';

/*
 * These callbacks differ from genuine ones only in what proxies, libraries and gateways change without a change of meaning. Each must
 * have the effect of the genuine one. DEEP_SEED=<printed> replays a campaign. DEEP_BUDGET multiplies it.
 */
const seed = Number(process.env['DEEP_SEED'] ?? '20260107');
const variations = Math.ceil(2_000 * Number(process.env['DEEP_BUDGET'] ?? '1'));

const platforms = makePaymentPlatforms('ours');

type Sent = { method: string; path: string; headers: Record<string, string | string[]>; body: string };

/** Returns a form with empty pairs, in another order, and with characters escaped that need no escape. */
function otherForm(text: string, dice: Dice): string {
  const pairs = text.split('&').map((pair) => {
    const at = pair.indexOf('=');
    const escaped = pair
      .slice(at)
      .replaceAll('+', () => dice.pick(['+', '%20']))
      .replaceAll(/%[0-9A-Fa-f]{2}/g, (escape) =>
        dice.pick([escape, escape.toLowerCase(), escape.toUpperCase()]),
      )
      .replaceAll(/(?<!%.?)[a-z]/g, (letter) =>
        dice.chance(0.05) ? `%${letter.charCodeAt(0).toString(16)}` : letter,
      );
    return pair.slice(0, at) + escaped;
  });
  if (dice.chance(0.5)) pairs.reverse();
  if (dice.chance(0.5)) pairs.splice(dice.below(pairs.length + 1), 0, '');
  return pairs.join('&') + dice.pick(['', '&', '&&']);
}

function otherHeaders(headers: SentCallback['headers'], dice: Dice): Sent['headers'] {
  const varied: Sent['headers'] = { ...headers };
  const encoding = dice.pick([null, null, '', 'UTF-8', 'utf8', 'none', 'identity', 'gzip', 'br']);
  if (encoding !== null) varied['content-encoding'] = encoding;
  if (dice.chance(0.3)) varied['content-type'] = dice.pick(['text/plain', 'application/json; x=y', 'x', '']);
  if (dice.chance(0.3)) varied['x-forwarded-for'] = dice.pick(['198.51.100.7', '::1', 'unknown']);
  for (const [header, value] of Object.entries(varied))
    if (dice.chance(0.2) && typeof value === 'string') varied[header] = [value, value];
  return varied;
}

function vary(name: PaymentProviderName, { method, query, headers, body }: SentCallback, dice: Dice): Sent {
  const slash = dice.pick(['', '', '/']);
  const host = dice.pick(['', '', 'http://shop.example']);
  const isForm = !body.startsWith('{');
  const form = isForm ? otherForm(query === '' ? body : query.slice(1), dice) : null;
  const sent = {
    path: `${host}/api/v1/payment/webhooks/${name}${slash}`,
    headers: otherHeaders(headers, dice),
  };
  if (form === null) return { ...sent, method, body };
  const how = dice.pick(method === 'GET' ? ['query', 'posted query', 'body'] : ['body']);
  if (how === 'body') return { ...sent, method: 'POST', body: form };
  return { ...sent, path: `${sent.path}?${form}`, method: how === 'query' ? 'GET' : 'POST', body: '' };
}

for (const name of paymentProvider.options) {
  test.serial(
    `Each of ${variations} harmless variations of a callback of ${name} pays its order`,
    async (t) => {
      const platform = (await platforms)[name];
      const { origin, clock, signUp, post, get } = await startTestService(t, {
        paymentProviders: new Map([[name, platform.provider]]),
      });
      const dice = makeDice(makeSeededRandom(seed));
      let buyer = await signUp('buyer0');
      for (let count = 0; count < variations; count += 1) {
        clock.advance(1_000);
        // An access token lives for 15 minutes.
        if (count % 500 === 499) buyer = await signUp(`buyer${count}`);
        const placed = await post('/api/v1/orders', { plan_id: 'capacity-100g', provider: name }, buyer);
        t.is(placed.status, 201, placed.text);
        const order = placed.json as { id: string; number: string; amount: number; currency: string };
        const { number: orderNumber, amount, currency } = order;
        const payment = { orderNumber, transaction: `tx${name}${count}`, amount, currency };
        const sent = vary(name, platform.pay(payment, clock.now()), dice);
        const { hostname, port } = new URL(origin);
        const { method, headers, path } = sent;
        const outgoing = request({ hostname, port, method, headers, path, agent: false });
        outgoing.end(sent.body);
        const [reply] = (await once(outgoing, 'response')) as [IncomingMessage];
        reply.resume();
        const { status } = (await get(`/api/v1/orders/${order.id}`, buyer)).json as { status: string };
        if (reply.statusCode === 200 && (status === 'paid' || status === 'fulfilled')) continue;
        return t.fail(
          `DEEP_SEED=${seed}, ${count}: ${reply.statusCode ?? 0} ${status} ${JSON.stringify(sent)}`,
        );
      }
      t.log(`DEEP_SEED=${seed}`);
      return t.pass();
    },
  );
}
