import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import type { PaymentProviderName } from '../../../src/areas/payments/domain/payment.js';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { asObject, makeServiceClient, textOf } from '../clients/service-client.js';
import type { SentCallback } from '../clients/sign-callbacks.js';
import { eventually } from '../eventually.js';
import { startInProcess } from '../servers/service-in-process.js';
import { makeDataDirectory } from '../servers/service-process.js';
import { platformOptions } from './platform-server.js';

/**
 * Starts a whole service that pays at a fake platform over TLS, with a buyer.
 * @param options.environment the settings of the platform
 */
export async function givenPayingService(
  t: ExecutionContext,
  {
    provider,
    url,
    environment,
    timeMs,
  }: {
    readonly provider: PaymentProviderName;
    readonly url: string;
    readonly environment: Readonly<Record<string, string>>;
    readonly timeMs?: number;
  },
) {
  const directory = await makeDataDirectory();
  const lines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => lines.push(line) });
  const service = await startInProcess({
    directory: directory.path,
    environment,
    log: { logger, flush: () => Promise.resolve() },
    platforms: {
      ...platformOptions,
      ...(timeMs === undefined ? {} : { timeMs }),
      allowedCidrs: ['127.0.0.0/8'],
      urls: { [provider]: url },
    },
  });
  t.teardown(async () => {
    await service.close();
    await directory.remove();
  });
  const client = makeServiceClient(service.url);
  const { headers } = await client.register('buyer@example.org', 'Correct-Horse-7');
  const read = async (path: string): Promise<JsonObject> => {
    const reply = await client.get(path, headers);
    t.is(reply.status, 200, reply.text);
    return reply.json();
  };
  const capacity = async (): Promise<number> =>
    Number(asObject((await read('/api/v1/auth/me'))['data'])['capacity_bytes']);
  return {
    ...service,
    client,
    headers,
    read,
    capacity,
    /** The lines of the service's log. */
    lines,
    place: async (request: JsonObject = {}) => {
      const reply = await client.post(
        '/api/v1/orders',
        { plan_id: 'capacity-100g', provider, ...request },
        headers,
      );
      t.is(reply.status, 201, reply.text);
      const order = reply.json();
      return {
        id: textOf(order, 'id'),
        number: textOf(order, 'number'),
        path: `/api/v1/orders/${textOf(order, 'id')}`,
      };
    },
    pay: (orderPath: string, body: JsonObject = {}) => client.post(`${orderPath}/pay`, body, headers),
    /** Sends a callback as the platform does, and returns the service's status. */
    deliver: async ({ method, query, headers: signature, body }: SentCallback): Promise<number> => {
      const path = `/api/v1/payment/webhooks/${provider}${query}`;
      const init = { method, headers: { ...signature }, ...(method === 'GET' ? {} : { body }) };
      return (await client.send(path, init)).status;
    },
    /** Waits for the order's status. */
    becomes: async (orderPath: string, status: string): Promise<JsonObject> => {
      await eventually(`order ${status}`, async () => (await read(orderPath))['status'] === status);
      return read(orderPath);
    },
    /** Waits for the buyer's capacity. */
    holds: (bytes: number) => eventually(`capacity of ${bytes}`, async () => (await capacity()) === bytes),
  };
}

/** What the plan `capacity-100g` grants. */
export const planBytes = 107_374_182_400;
