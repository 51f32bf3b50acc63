import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { makeHealth } from '../../src/observing/health.js';
import { runAudit } from '../../src/composition/tasks/audit.js';
import { makeHttp } from '../../src/composition/http.js';
import { openServices } from '../../src/composition/services.js';
import { readConfig } from '../../src/config/config.js';
import {
  orderNumber,
  paymentProvider,
  type PaymentProviderName,
} from '../../src/areas/payments/domain/payment.js';
import { orderAggregate, orderLifeMs } from '../../src/areas/payments/domain/order/order.js';
import { orderStatus } from '../../src/areas/payments/domain/order/fold.js';
import { builtInPlans, defaultCurrency, findOffer } from '../../src/areas/payments/domain/order/plans.js';
import type { CommandContext } from '../../src/event-sourcing/ports/command-context.js';
import { derivedId } from '../../src/event-sourcing/deciding/command-handler.js';
import { startProjections } from '../../src/event-sourcing/feeding/projectors/projection-runner.js';
import { startHttpServer } from '../../src/http/server/server.js';
import { makeSoleLease } from '../../src/event-sourcing/feeding/consumers/lease.js';
import { makePaymentPlatforms } from '../support/clients/payment-platforms.js';
import type { SentCallback } from '../support/clients/sign-callbacks.js';
import { listen, makeAnchor } from './anchors.js';

/** The values for the parent process, which then names a platform and the number of callbacks. */
export interface PaymentsBenchSetup {
  readonly service: string;
  readonly anchor: string;
}

/** Genuine callbacks. Each is of the payment of another existing order. */
export interface SignedCallbacks {
  readonly callbacks: readonly SentCallback[];
}

/** The number of paid orders. */
export interface PaidOrders {
  readonly paid: number;
}

const asked = z.union([
  z.strictObject({ sign: paymentProvider, count: z.int() }),
  z.strictObject({ countPaid: z.literal(true) }),
]);

const atOnce = 64;
const directory = mkdtempSync(join(tmpdir(), 'stowage-bench-'));
process.once('disconnect', () => {
  rmSync(directory, { recursive: true });
  process.exit();
});
const platforms = await makePaymentPlatforms('ours');
const services = await openServices(readConfig({ DATA_DIR: join(directory, 'data') }), {
  paymentProviders: new Map(paymentProvider.options.map((name) => [name, platforms[name].provider])),
});
await services.generations.start();
const health = makeHealth({
  stores: { away: () => [] },
  logReads: { failingSinceMs: () => null },
  clock: services.clock,
});
health.projectionsStarted(
  await startProjections(
    { ...services, lease: makeSoleLease('bench') },
    {
      onRetry: () => undefined,
      onStopped: (_collection, error) => {
        throw error;
      },
      onRebuilt: () => undefined,
    },
  ),
);
// The bench compares a service with one that runs no audit log.
if (!process.argv.includes('without-audit')) {
  void runAudit(services.audit, services, new AbortController().signal);
}
const server = await startHttpServer({ ...makeHttp(services, health), host: '127.0.0.1', port: 0 });
const setup: PaymentsBenchSetup = {
  service: `http://127.0.0.1:${server.port}`,
  anchor: await listen(makeAnchor(services)),
};
process.on('message', (message) => {
  void answer(message);
});
process.send?.(setup);

let orderIds: readonly string[] = [];

async function answer(message: unknown): Promise<void> {
  const wanted = asked.parse(message);
  process.send?.('sign' in wanted ? await sign(wanted.sign, wanted.count) : await countPaid());
}

async function sign(provider: PaymentProviderName, count: number): Promise<SignedCallbacks> {
  const currency = defaultCurrency(provider);
  const { plan, amount } = findOffer(builtInPlans, { plan_id: 'capacity-100g', currency });
  const placed: string[] = [];
  while (placed.length < count) {
    const group = Array.from({ length: Math.min(atOnce, count - placed.length) }, makeContext);
    const ids = await Promise.all(
      group.map(async (context) => {
        const id = derivedId(context, 'order');
        // The use case limits a user to 100 orders, so the bench appends directly.
        await services.handler.handle(
          { aggregate: orderAggregate, id },
          {
            ...({ type: 'Place', user_id: randomUUID(), project_id: null, plan_id: plan.id } as const),
            ...{ grant: plan.grants, provider, amount, currency },
            expires_at: new Date(context.time.getTime() + orderLifeMs).toISOString(),
          },
          context,
        );
        return id;
      }),
    );
    placed.push(...ids);
  }
  orderIds = placed;
  const at = new Date();
  const callbacks = placed.map((id) => {
    const transaction = id.replaceAll('-', '').slice(-20);
    return platforms[provider].pay({ orderNumber: orderNumber(id), transaction, amount, currency }, at);
  });
  return { callbacks };
}

async function countPaid(): Promise<PaidOrders> {
  let paid = 0;
  for (const id of orderIds) {
    const { state } = await services.handler.load(orderAggregate, id);
    if (state.status === 'placed' && orderStatus(state) === 'paid') paid += 1;
  }
  return { paid };
}

function makeContext(): CommandContext {
  const commandId = randomUUID();
  return {
    commandId,
    causationId: commandId,
    correlationId: commandId,
    actor: 'anonymous',
    time: new Date(),
  };
}
