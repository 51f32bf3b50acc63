import type { ExecutionContext } from 'ava';
import { reportKeyOf } from '../../../src/areas/payments/domain/payment.js';
import type { PaymentMakers } from '../../../src/areas/payments/platforms/configured.js';
import { makeTestPaymentProvider, signed, type TestMessage } from '../fakes/test-payment-provider.js';
import { startTestService } from '../servers/http-service.js';
import { acceptedReports } from './accepted-reports.js';

interface PlacedReply {
  readonly id: string;
  readonly number: string;
}

/** Starts a service with the platforms `standard` and `stripe`, an operator with a second factor, and a buyer. */
export async function givenPayments(
  t: ExecutionContext,
  { paymentMakers }: { readonly paymentMakers?: PaymentMakers } = {},
) {
  const provider = makeTestPaymentProvider();
  const paymentProviders = new Map([
    ['standard', provider],
    ['stripe', provider],
  ] as const);
  const service = await startTestService(t, {
    paymentProviders,
    ...(paymentMakers && { paymentMakers }),
  });
  const operator = await service.signUpAs('operator');
  const buyer = await service.signUp('buyer');
  let sent = 0;
  return {
    ...service,
    operator,
    buyer,
    place: async (plan: object = { plan_id: 'capacity-100g' }): Promise<PlacedReply> => {
      const placed = await service.post('/api/v1/orders', { ...plan, provider: 'standard' }, buyer);
      t.is(placed.status, 201, placed.text);
      return placed.json as PlacedReply;
    },
    /** Sends a callback of `standard`, and returns the id of its first report. */
    send: async (...told: TestMessage['told']): Promise<string> => {
      const key = `m${(sent += 1)}`;
      const { body, headers } = signed({ key, told });
      const answer = await service.ask('/api/v1/payment/webhooks/standard', {
        method: 'POST',
        body,
        headers,
      });
      t.is(answer.status, 200, answer.text);
      const [id = ''] = await acceptedReports(service.stores.eventStore, reportKeyOf('standard', key));
      return id;
    },
  };
}
