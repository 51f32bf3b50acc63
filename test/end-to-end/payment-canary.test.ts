import test from 'ava';
import { userAggregate } from '../../src/areas/accounts/domain/user/user.js';
import type { JsonObject } from '../../src/event-sourcing/ports/domain-event.js';
import { eventually } from '../support/eventually.js';
import { appendEvents } from '../support/given/append-events.js';
import { canariesOf, startCanaryService } from '../support/servers/canary-service.js';
import { addTotp, textOf } from '../support/clients/service-client.js';
import { type SentCallback, signEpay, signStandard, signStripe } from '../support/clients/sign-callbacks.js';

const secrets = {
  stripe: 'whsec_CanaryStripeSecret00000001',
  standard: `whsec_${Buffer.from('canary, the secret of the standard').toString('base64')}`,
  epay: 'CanaryEpayKey0000000000000000001',
  wrong: 'whsec_CanaryWrongSecret000000001',
};
const payer = { email: 'canary.payer@example.org', name: 'CanaryPayer', phone: '+15550109377' };
const clientAddress = '198.51.100.79';
const notes = { held: 'CanaryNoteOne: Ada has called', review: 'CanaryNoteTwo: Ada has paid less' };

test('Secrets of payment platforms, signatures and payers stand nowhere in clear', async (t) => {
  // Given a service with three platforms, and an order with each
  const { service, client, watched, sightings } = await startCanaryService(t, {
    PAYMENT_STRIPE_WEBHOOK_SECRETS: secrets.stripe,
    PAYMENT_STANDARD_WEBHOOK_SECRETS: secrets.standard,
    PAYMENT_EPAY_ENABLED: 'true',
    PAYMENT_EPAY_PID: '1001',
    PAYMENT_EPAY_KEYS: secrets.epay,
    TRUSTED_PROXIES: '127.0.0.0/8',
  });
  const { headers } = await client.register('ada@example.org', 'Correct-Horse-7');
  const place = async (provider: string): Promise<string> => {
    const placed = await client.post('/api/v1/orders', { plan_id: 'capacity-100g', provider }, headers);
    t.is(placed.status, 201, placed.text);
    return textOf(placed.json(), 'number');
  };
  const numbers = {
    stripe: await place('stripe'),
    standard: await place('standard'),
    epay: await place('epay'),
  };

  // When each platform reports a payment and its payer, also wrongly, broken, for an unknown order and with a wrong secret
  const at = new Date();
  const stripe = (number: string, secret = secrets.stripe): SentCallback =>
    signStripe(
      {
        id: `evt_${number.slice(0, 20)}`,
        object: 'event',
        created: 1_767_323_000,
        livemode: true,
        type: 'checkout.session.completed',
        data: {
          object: {
            id: 'cs_live_TestOnly01',
            object: 'checkout.session',
            amount_total: 999,
            client_reference_id: number,
            currency: 'usd',
            customer_details: payer,
            payment_intent: `pi_${number.slice(0, 20)}`,
            payment_status: 'paid',
          },
        },
      },
      { secret, at },
    );
  const standard = (id: string, data: JsonObject): SentCallback =>
    signStandard(
      { type: 'payment.paid', timestamp: at.toISOString(), data },
      { id, secret: secrets.standard, at },
    );
  let count = 0;
  const epay = (fields: Readonly<Record<string, string>>, key = secrets.epay): SentCallback =>
    signEpay(
      {
        pid: '1001',
        trade_no: `2026010211040000${(count += 1)}`,
        out_trade_no: numbers.epay,
        type: 'alipay',
        name: payer.name,
        param: payer.email,
        trade_status: 'TRADE_SUCCESS',
        ...fields,
      },
      { key },
    );
  const money = { amount: 999, currency: 'USD' };
  const broken = stripe(numbers.stripe);
  const sent: readonly (readonly [provider: string, callback: SentCallback, status: number])[] = [
    ['stripe', stripe(numbers.stripe), 200],
    ['stripe', stripe(numbers.stripe), 200],
    ['stripe', stripe(payer.email), 200],
    ['stripe', stripe(numbers.stripe, secrets.wrong), 401],
    ['stripe', { ...broken, body: broken.body.slice(0, -1) }, 401],
    [
      'standard',
      standard('m1', { ...money, order_number: numbers.standard, transaction_id: 't1', ...payer }),
      200,
    ],
    ['standard', standard('m2', { ...money, order_number: payer.name, transaction_id: 't2' }), 200],
    ['standard', standard('m3', { ...payer }), 200],
    ['standard', { ...standard('m4', {}), body: JSON.stringify(payer) }, 401],
    ['epay', epay({ money: '69.00' }), 200],
    ['epay', epay({ money: payer.phone }), 200],
    ['epay', epay({ money: '67.00' }), 200],
    ['epay', epay({ money: '68.00' }, secrets.wrong), 401],
    ['wechatpay', standard('m5', payer), 503],
    [payer.name, standard('m6', payer), 404],
  ];
  const signatures: string[] = [];
  for (const [provider, { method, query, headers: signed, body }, status] of sent) {
    const answer = await watched.send(`/api/v1/payment/webhooks/${provider}${query}`, {
      method,
      headers: { ...signed, 'x-forwarded-for': clientAddress },
      ...(method === 'GET' ? {} : { body }),
    });
    t.is(answer.status, status, `${provider}: ${answer.text}`);
    const inQuery = new URLSearchParams(query).get('sign');
    signatures.push(
      ...Object.values(signed).filter((value) => /v1/.test(value)),
      ...(inQuery ? [inQuery] : []),
    );
  }
  await watched.get('/api/v1/orders', headers);

  // and an operator decides on waiting payments with notes, which only the operators' replies show
  const { userId: operatorId, headers: operator } = await client.register(
    'eve@example.org',
    'Correct-Horse-7',
  );
  await appendEvents(
    service.services.handler,
    { aggregate: userAggregate, id: operatorId },
    [{ type: 'PlatformRoleGranted', data: { role: 'operator' } }],
    at,
  );
  await addTotp(client, operator);
  const waiting = async (list: string): Promise<string> => {
    const item = await eventually(`a payment in ${list}`, async () => {
      const { items } = (await watched.get(`/api/v1/admin/payments/${list}`, operator)).json();
      return (items as JsonObject[])[0];
    });
    return textOf(item, 'id');
  };
  const decided = { held: await waiting('unmatched'), review: await waiting('review') };
  for (const which of ['held', 'review'] as const) {
    const path = `/api/v1/admin/payments/${decided[which]}`;
    const decision = { action: 'dismiss', note: notes[which] };
    t.is((await watched.post(`${path}/resolve`, decision, operator)).status, 200);
    t.regex((await client.get(path, operator)).text, new RegExp(notes[which]));
  }
  for (const list of ['unmatched', 'review']) await watched.get(`/api/v1/admin/payments/${list}`, operator);
  await watched.get('/api/v1/orders', headers);

  // Then accepted facts are stored, and nothing else
  const { events } = await service.services.eventStore.readAll({ after: null, limit: 500 });
  t.true(events.filter(({ type }) => type === 'PaymentReported').length >= 6);
  const seen = await sightings(
    canariesOf({
      ...secrets,
      ...payer,
      clientAddress,
      ...notes,
      'secret without its prefix': secrets.standard.slice(6),
      'secret as bytes': Buffer.from(secrets.standard.slice(6), 'base64').toString('latin1'),
      ...Object.fromEntries(
        signatures.map((value, index) => [`signature ${index}`, value.replace(/^.*v1[,=]/, '')]),
      ),
    }),
  );
  t.deepEqual(seen, []);
});
