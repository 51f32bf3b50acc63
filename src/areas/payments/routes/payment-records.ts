import { z } from 'zod';
import type { PaymentCommands } from '../commands/index.js';
import { recordRequest } from '../commands/deciding/requests.js';
import { transactionId } from '../domain/fact.js';
import { foundPayments, paymentRecord } from './order-resources.js';
import { noBody, noParams, noQuery } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';

const path = '/api/v1/admin/payments';

/** Makes the routes by which operators find a payment and record one by hand (docs/payments/resolving.md#see-and-decide). */
export function makePaymentRecordRoutes({
  recordPayment,
  findPayments,
}: Pick<PaymentCommands, 'recordPayment' | 'findPayments'>): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path,
      name: 'findPayments',
      tag: 'Payments',
      summary: 'Reports of a transaction, and the orders that it pays',
      request: { params: noParams, query: z.object({ transaction_id: transactionId }), body: noBody },
      replies: { 200: { description: 'At most 100 reports, and their orders.', schema: foundPayments } },
      handler: async ({ query }) => ({
        status: 200,
        body: toFound(await findPayments(query.transaction_id)),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/record`,
      name: 'recordPayment',
      tag: 'Payments',
      summary: 'Record a payment that the platform did not report',
      description:
        'It is settled by the rules of a callback. The same record again is answered with `known`. A record that cannot be true ' +
        'beside what the order knows is a conflict.',
      request: { params: noParams, query: noQuery, body: recordRequest },
      replies: { 200: { description: 'What became of it.', schema: paymentRecord } },
      errors: ['conflict', 'not_found'],
      handler: async ({ body, command }) => ({
        status: 200,
        body: toRecord(await recordPayment(body, command)),
      }),
    }),
  ];
}

function toFound({
  items,
  orders,
}: Awaited<ReturnType<PaymentCommands['findPayments']>>): z.output<typeof foundPayments> {
  return { items: [...items], orders: [...orders] };
}

function toRecord({
  in_review,
  ...record
}: Awaited<ReturnType<PaymentCommands['recordPayment']>>): z.output<typeof paymentRecord> {
  return { ...record, in_review: [...in_review] };
}
