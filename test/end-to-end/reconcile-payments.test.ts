import type { InvalidRequest } from '../../src/validation/field-problems.js';
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { isRejection, type UseCaseRejection } from '../../src/areas/shared/rejections.js';
import { makeReconcileDaily } from '../../src/areas/payments/commands/callbacks/reconcile-daily.js';
import { runDailyTasks } from '../../src/composition/tasks/daily-tasks.js';
import { makeOperators } from '../../src/composition/operators.js';
import { controlSocketPath, listenForOperators } from '../../src/operating/socket/listen.js';
import type { CommandContext } from '../../src/event-sourcing/ports/command-context.js';
import { browse } from '../areas/payments/platforms/makers/given-makers.js';
import { textOf } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { settableClock } from '../support/fakes/settable-clock.js';
import {
  givenAlipayService,
  givenWechatPayService,
  planBytes,
} from '../support/platforms/paying-services.js';
import { runCli } from '../support/servers/service-process.js';

const context = (): CommandContext => {
  const commandId = randomUUID();
  const causes = { causationId: commandId, correlationId: commandId };
  return { commandId, ...causes, actor: 'operator', time: new Date() };
};
const period = () => ({
  from: new Date(Date.now() - 3_600_000),
  to: new Date(Date.now() + 1_000),
  after: null,
});

test('A payment whose callback was lost is found, and counts once', async (t) => {
  // Given an order that is paid without a callback, one that ended, one that waits, and one without a payment
  const { platform, service } = await givenWechatPayService(t);
  const [paid, ended, waiting, fresh] = [
    await service.place(),
    await service.place(),
    await service.place(),
    await service.place(),
  ];
  for (const order of [paid, ended, waiting]) t.is((await service.pay(order.path)).status, 200);
  const lost = platform.pay(paid.number);
  platform.end(ended.number, 'CLOSED');

  // When the platform is asked, then the paid order is granted and the ended one has expired
  const { reconcilePayments } = service.services.commands;
  const found = await reconcilePayments({ provider: 'wechatpay', ...period() }, context());
  t.deepEqual(found, { asked: 4, reported: 2, failed: [], next: null });
  t.like(await service.becomes(paid.path, 'fulfilled'), {
    payments: [{ provider: 'wechatpay', kind: 'paid', amount: 6_900 }],
  });
  await service.becomes(ended.path, 'expired');
  await service.holds(service.granted + planBytes);

  // When the lost callback comes after all, and the platform is asked again, then nothing changes
  t.is(await service.deliver(lost), 200);
  const again = await reconcilePayments({ provider: 'wechatpay', ...period() }, context());
  t.deepEqual(again, { asked: 4, reported: 0, failed: [], next: null });
  t.is(await service.capacity(), service.granted + planBytes);
  const { payments } = await service.read(paid.path);
  t.like(payments, [{ kind: 'paid' }]);
  t.is((payments as readonly unknown[]).length, 1);
  for (const { path } of [waiting, fresh]) t.is((await service.read(path))['status'], 'created');
});

test('The command of an operator asks the platform, and names what it may not ask', async (t) => {
  // given a service with its socket for operators, and an order whose callback was lost
  const { platform, service } = await givenWechatPayService(t);
  const { dataDirectory } = service.services.config;
  const operators = makeOperators(service.services, { status: () => null });
  const control = await listenForOperators(controlSocketPath(dataDirectory), operators);
  t.teardown(() => control.close());
  const order = await service.place();
  t.is((await service.pay(order.path)).status, 200);
  platform.pay(order.number);
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const cli = (...args: string[]) => runCli(dataDirectory, ['--json', 'payments', 'reconcile', ...args]);

  // when the command runs twice, then the second run finds nothing
  const first = await cli('wechatpay', '--from', from);
  t.like(first, { code: 0, stderr: '' });
  t.deepEqual(JSON.parse(first.stdout), { asked: 1, reported: 1, failed: [], next: null });
  await service.becomes(order.path, 'fulfilled');
  const to = new Date().toISOString();
  const again = await cli('wechatpay', '--from', from, '--to', to);
  t.deepEqual(JSON.parse(again.stdout), { asked: 1, reported: 0, failed: [], next: null });

  // and a wrong request ends with a code and a sentence
  for (const [args, code, problem] of [
    [['wechatpay', '--from', to, '--to', from], 2, /to must be after from/],
    [['wechatpay', '--from', 'yesterday'], 2, /from/],
    [['epay', '--from', from], 1, /cannot ask epay what became of payments/],
  ] as const) {
    const refused = await cli(...args);
    t.is(refused.code, code, refused.stderr);
    t.regex(refused.stderr, problem);
    t.is(refused.stdout, '');
  }
});

test('Orders of another period or platform are not asked for', async (t) => {
  const { platform, service } = await givenWechatPayService(t);
  const { reconcilePayments } = service.services.commands;
  await service.place();
  const before = {
    from: new Date('2020-01-01T00:00:00Z'),
    to: new Date('2020-02-01T00:00:00Z'),
    after: null,
  };
  t.deepEqual(await reconcilePayments({ provider: 'wechatpay', ...before }, context()), {
    ...{ asked: 0, reported: 0, failed: [], next: null },
  });
  t.deepEqual(platform.requests, []);
  const other = await t.throwsAsync(reconcilePayments({ provider: 'epay', ...period() }, context()));
  t.true(isRejection<UseCaseRejection>(other, 'payment_not_offered'));
  const reversed = { provider: 'wechatpay', from: before.to, to: before.from, after: null } as const;
  const refused = await t.throwsAsync(reconcilePayments(reversed, context()));
  t.true(isRejection<InvalidRequest>(refused, 'invalid_request'));
});

test('Once a day one process asks by itself, and tries again after a failure', async (t) => {
  // Given an order at Alipay that is paid without a notification, four unpaid ones, and two processes
  const { platform, service } = await givenAlipayService(t);
  const order = await service.place();
  await browse(textOf((await service.pay(order.path)).json(), 'url'));
  platform.pay(order.number);
  for (let more = 0; more < 4; more += 1) await service.becomes((await service.place()).path, 'created');
  const { commands, stores } = service.services;
  const clock = settableClock(new Date());
  const { reconcilePayments } = commands;
  // Only the names of the platforms matter here.
  const unused = () => Promise.reject(new Error('asked past the command'));
  const paymentMakers = new Map([
    ['alipay', { makePayment: unused, asks: { query: unused, queryRefund: unused } }],
  ] as const);
  const makeProcess = () =>
    makeReconcileDaily({ paymentMakers, stateStore: stores.stateStore, clock, reconcilePayments });
  const [one, other] = [makeProcess(), makeProcess()];

  // When Alipay fails for five orders, then the next tries come 15 minutes later
  platform.will(...Array.from({ length: 10 }, () => 'fails' as const));
  const failed = await t.throwsAsync(one(context));
  t.true(isRejection<UseCaseRejection>(failed, 'platform_unavailable'));
  t.is((await other(context)).size, 0);
  clock.advance(900_000);
  const asked = await Promise.all([one(context), other(context)]);

  // Then one process has asked, and the order is granted
  t.deepEqual(
    asked.flatMap((found) => [...found]),
    [['alipay', { asked: 5, reported: 1 }]],
  );
  await service.becomes(order.path, 'fulfilled');
  await service.holds(service.granted + planBytes);

  // and the next time is a day later
  clock.advance(85_000_000);
  t.is((await one(context)).size, 0);
  clock.advance(1_000_000);
  t.is((await one(context)).size, 1);
});

test('The daily tasks of a process ask the platforms', async (t) => {
  // Given an order that is paid without a callback
  const { platform, service } = await givenWechatPayService(t);
  const order = await service.place();
  t.is((await service.pay(order.path)).status, 200);
  platform.pay(order.number);
  // When the tasks run, then the order is granted
  const stopping = new AbortController();
  const tasks = runDailyTasks(service.services, stopping.signal);
  await service.becomes(order.path, 'fulfilled');
  stopping.abort();
  await t.notThrowsAsync(tasks);
});

const refundBy = (
  service: Awaited<ReturnType<typeof givenWechatPayService>>['service'],
  orderId: string,
  amount: number,
) => service.services.commands.refundOrder({ order_id: orderId, amount, note: 'the buyer asked' }, context());

test('Refunds of paid orders whose callbacks were lost are found, and unknown ones wait for an operator', async (t) => {
  // given two paid orders: the service asked for refunds of the first, and the shop refunds the second in the console
  const { platform, service } = await givenWechatPayService(t);
  const [ours, theirs] = [await service.place(), await service.place()];
  for (const order of [ours, theirs]) {
    t.is((await service.pay(order.path)).status, 200);
    t.is(await service.deliver(platform.pay(order.number)), 200);
    await service.becomes(order.path, 'fulfilled');
  }
  const { id: first } = await refundBy(service, ours.id, 1_900);
  platform.endRefund(ours.number, first, 'SUCCESS');
  platform.refundInConsole(theirs.number);
  const { reconcilePayments } = service.services.commands;
  const { paymentCallbacks } = service.services.readers;
  const reconcile = () => reconcilePayments({ provider: 'wechatpay', ...period() }, context());

  // when
  const found = await reconcile();
  // then
  t.deepEqual(found, { asked: 2, reported: 2, failed: [], next: null });
  t.like(await service.becomes(ours.path, 'partially_refunded'), { refunded_amount: 1_900 });
  const transaction = `42000000${theirs.number}`;
  const waiting = () => paymentCallbacks.unmatched({ limit: 10 });
  await eventually('the report in the list', async () => (await waiting()).length > 0);
  t.like(await waiting(), [
    {
      reason: 'unreadable',
      notifications: [{ transaction_id: transaction, fact: { kind: 'unreadable', field: 'refunds' } }],
    },
  ]);
  // when asked again, also after the operator has looked, then nothing is news
  t.deepEqual(await reconcile(), { asked: 2, reported: 0, failed: [], next: null });
  const id = (await waiting())[0]?.id ?? '';
  const { resolvePayment } = service.services.commands;
  await resolvePayment({ id, action: 'dismiss', order_id: null, note: 'recorded by hand' }, context());
  t.deepEqual(await reconcile(), { asked: 2, reported: 0, failed: [], next: null });
  await eventually('an empty list', async () => (await waiting()).length === 0);

  // when the rest is refunded, then the grant ends, and the order is not asked for any more
  const { id: second } = await refundBy(service, ours.id, 5_000);
  t.deepEqual(await reconcile(), { asked: 2, reported: 0, failed: [], next: null });
  platform.endRefund(ours.number, second, 'SUCCESS');
  t.like(await reconcile(), { asked: 2, reported: 1 });
  await service.becomes(ours.path, 'refunded');
  await service.holds(service.granted + planBytes);
  t.like(await reconcile(), { asked: 1, reported: 0 });
});

test('A refund at Alipay that the service asked for, and a trade that was refunded in full there, are found', async (t) => {
  const { platform, service } = await givenAlipayService(t);
  const [part, whole] = [await service.place(), await service.place()];
  for (const order of [part, whole]) {
    await browse(textOf((await service.pay(order.path)).json(), 'url'));
    t.is(await service.deliver(platform.pay(order.number)), 200);
    await service.becomes(order.path, 'fulfilled');
  }
  await refundBy(service, part.id, 1_900);
  platform.refundInConsole(whole.number, 'R1');
  const reconcile = () =>
    service.services.commands.reconcilePayments({ provider: 'alipay', ...period() }, context());
  t.deepEqual(await reconcile(), { asked: 2, reported: 2, failed: [], next: null });
  t.like(await service.becomes(part.path, 'partially_refunded'), { refunded_amount: 1_900 });
  await service.becomes(whole.path, 'refunded');
  t.deepEqual(await reconcile(), { asked: 1, reported: 0, failed: [], next: null });
});
