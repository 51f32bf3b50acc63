import { z } from 'zod';
import type { PaymentCommands } from '../commands/index.js';
import { recordRequest } from '../commands/deciding/requests.js';
import { transactionId } from '../domain/fact.js';
import { foundPayments, paymentRecord } from '../commands/resources.js';
import { type Route, json, ok, routesOf } from '../../../http/route.js';

const path = '/api/v1/admin/payments';

/** Makes the routes by which operators find a payment and record one by hand (docs/payments/resolving.md#see-and-decide). */
export function makePaymentRecordRoutes({ recordPayment, findPayments }: PaymentCommands): readonly Route[] {
  const route = routesOf({ tag: 'Payments', path });
  return [
    route('findPayments', 'GET', {
      summary: 'Reports of a transaction, and the orders that it pays',
      request: { query: z.object({ transaction_id: transactionId }) },
      replies: { 200: json('At most 100 reports, and their orders.', foundPayments) },
      handler: async ({ query }) => ok(await findPayments(query.transaction_id)),
    }),
    route('recordPayment', 'POST /record', {
      summary: 'Record a payment that the platform did not report',
      description:
        'It is settled by the rules of a callback. The same record again is answered with `known`. A record that cannot be true ' +
        'beside what the order knows is a conflict.',
      request: { body: recordRequest },
      replies: { 200: json('What became of it.', paymentRecord) },
      errors: ['conflict', 'not_found'],
      handler: async ({ body, command }) => ok(await recordPayment(body, command)),
    }),
  ];
}
