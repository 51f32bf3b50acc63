import test from 'ava';
import { makeTestPaymentMaker } from '../../../support/fakes/test-payment-maker.js';
import { startTestService } from '../../../support/servers/http-service.js';

const phone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1';

test('An order at a platform without credentials is paid by its number', async (t) => {
  const { post, signUp } = await startTestService(t);
  const buyer = await signUp('buyer');
  const order = { plan_id: 'capacity-100g', provider: 'standard' };
  const { id } = (await post('/api/v1/orders', order, buyer)).json as { id: string };

  const answer = await post(`/api/v1/orders/${id}/pay`, {}, buyer);

  t.is(answer.status, 409);
  t.is((answer.json as { code: string }).code, 'payment_not_offered');
});

test('The way to pay is shown to the buyer alone, and the platforms that offer it are listed', async (t) => {
  const maker = makeTestPaymentMaker({ now: () => new Date() });
  const { get, post, signUp } = await startTestService(t, {
    paymentMakers: new Map([['standard', maker]] as const),
  });
  const [buyer, stranger] = [await signUp('buyer'), await signUp('stranger')];
  const order = { plan_id: 'capacity-100g', provider: 'standard' };
  const { id } = (await post('/api/v1/orders', order, buyer)).json as { id: string };
  const path = `/api/v1/orders/${id}/pay`;
  t.is((await post(path, {}, stranger)).status, 404);
  t.is((await post(path, {})).status, 401);
  const elsewhere = await post(path, { return_url: 'https://evil.example/' }, buyer);
  t.deepEqual([elsewhere.status, (elsewhere.json as { code: string }).code], [400, 'invalid_request']);

  const answer = await post(path, {}, { ...buyer, 'user-agent': phone });

  t.is(answer.status, 200, answer.text);
  t.like(answer.json, { provider: 'standard', kind: 'form', url: 'https://pay.example/1' });
  t.like(maker.requests, [{ isMobile: true, clientIp: '127.0.0.1' }]);
  const { platforms } = (await get('/api/v1/plans')).json as { platforms: readonly { provider: string }[] };
  t.deepEqual(
    platforms.find(({ provider }) => provider === 'standard'),
    {
      provider: 'standard',
      ways: [{ kind: 'pay' }, { kind: 'order_number', fields: ['data.order_number'] }],
    } as object,
  );
});
