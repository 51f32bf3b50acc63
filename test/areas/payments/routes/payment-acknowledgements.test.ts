import test, { type ExecutionContext } from 'ava';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { paymentProvider, type PaymentProviderName } from '../../../../src/areas/payments/domain/payment.js';
import type { ErrorCode } from '../../../../src/http/replies/error-codes.js';
import type { PaymentProviders } from '../../../../src/areas/payments/platforms/configured.js';
import { ok, success } from '../platforms/vectors/under-test.js';
import { platformUnderTest } from '../platforms/vectors/vectors.js';
import { startTestService } from '../../../support/servers/http-service.js';
import { makePaymentPlatforms, type ToldPayment } from '../../../support/clients/payment-platforms.js';
import { sendRaw, type ReceivedBytes } from '../../../support/clients/send-raw.js';
import type { SentCallback } from '../../../support/clients/sign-callbacks.js';

/*
 * The exact replies to each platform (src/areas/payments/README.md#payment-callbacks). The integrations name the platforms' documents
 * that require them. The test uses real HTTP, the real verifiers, and callbacks with the platforms' signatures.
 */

const refusals = {
  wrong_signature: [401, 'invalid_signature', 'the signature does not hold'],
  too_large: [413, 'payload_too_large', 'the body is larger than 262144 bytes'],
  encoded: [415, 'unsupported_media_type', 'the body must not have a content encoding'],
  not_configured: [503, 'provider_not_configured', 'the payment platform is not configured'],
  unjudged: [503, 'store_unavailable', 'the callback cannot be judged now; send it again'],
  store_away: [503, 'store_unavailable', 'a store does not answer; nothing was written, so try again'],
  unknown: [
    503,
    'outcome_unknown',
    'the service is busy or a store does not answer, and the change may have been made; repeat the request with the same Idempotency-Key, or read before you repeat it',
  ],
  broken: [500, 'internal_error', 'the service failed to answer'],
} as const satisfies Readonly<Record<string, readonly [number, ErrorCode, string]>>;

const platforms = makePaymentPlatforms('ours');
const strangers = makePaymentPlatforms('a stranger');
const path = '/api/v1/payment/webhooks';
const seen = ({ status, headers, body }: ReceivedBytes) => [
  ...[status, headers['content-type'], body.toString('latin1')],
];

async function given(t: ExecutionContext, name: PaymentProviderName, isSetUp = true) {
  const [platform, stranger] = [(await platforms)[name], (await strangers)[name]];
  const { acknowledgement } = await platformUnderTest(name);
  /** Such platforms search the whole reply for this word, and stop their repetitions when they find it. */
  const looksForSuccess = acknowledgement.body === success.body;
  const paymentProviders: PaymentProviders = new Map(isSetUp ? [[name, platform.provider]] : []);
  /** Limits that end at once. */
  const ends = new Set<number>();
  const callbackSleep = (ms: number): Promise<void> =>
    ends.has(ms) ? Promise.resolve() : new Promise(() => undefined);
  const service = await startTestService(t, { paymentProviders, callbackSleep });
  const whole = { ...service.stores.eventStore };
  let payments = 0;
  const send = (
    sent: Partial<Omit<SentCallback, 'method'>> & { readonly method?: 'GET' | 'HEAD' | 'POST' },
  ): Promise<ReceivedBytes> =>
    sendRaw(`${service.origin}${path}/${name}${sent.query ?? ''}`, { method: 'POST', ...sent });
  return {
    ...service,
    ...{ platform, stranger, looksForSuccess },
    ends,
    send,
    sign: (payment: ToldPayment, at = service.clock.now()) => platform.pay(payment, at),
    log: whole,
    /** Runs with parts of the log replaced. */
    withLog: async <Result>(parts: Partial<EventStore>, run: () => Promise<Result>): Promise<Result> => {
      Object.assign(service.stores.eventStore, parts);
      return run().finally(() => Object.assign(service.stores.eventStore, whole));
    },
    written: () => service.stores.eventStore.head(),
    /** Returns a payment of a new order. */
    place: async () => {
      const buyer = await service.signUp(`buyer${(payments += 1)}`);
      const request = { plan_id: 'capacity-100g', provider: name };
      const placed = await service.post('/api/v1/orders', request, buyer);
      t.is(placed.status, 201, placed.text);
      const order = placed.json as { id: string; number: string; amount: number; currency: string };
      const statusOf = async (): Promise<string> =>
        ((await service.get(`/api/v1/orders/${order.id}`, buyer)).json as { status: string }).status;
      const { number: orderNumber, amount, currency } = order;
      return { payment: { orderNumber, transaction: `tx${name}${payments}`, amount, currency }, statusOf };
    },
    isAcknowledged: (reply: ReceivedBytes, what: string) => {
      t.deepEqual(seen(reply), [200, acknowledgement.type, acknowledgement.body], what);
    },
    isShown: (reply: ReceivedBytes, what: string) => {
      t.deepEqual(seen(reply), [200, ok.type, ok.body], what);
      if (looksForSuccess) t.notRegex(reply.whole, /success/i, what);
    },
    isRefused: (reply: ReceivedBytes, refusal: keyof typeof refusals, what: string = refusal) => {
      const [status, itsCode, message] = refusals[refusal];
      const code = name === 'wechatpay' ? 'FAIL' : itsCode;
      t.deepEqual(seen(reply), [status, 'application/json', JSON.stringify({ code, message })], what);
      t.is(reply.headers['retry-after'] !== undefined, status === 503, what);
      if (looksForSuccess) t.notRegex(reply.whole, /success/i, what);
    },
  };
}

for (const name of paymentProvider.options) {
  test.serial(
    `A genuine callback of ${name} gets the platform's acknowledgement with every outcome`,
    async (t) => {
      // Given two orders, of which the first has been paid
      const { clock, commands, sign, send, place, written, isAcknowledged } = await given(t, name);
      const { payment, statusOf } = await place();
      const other = await place();
      const sent = sign(payment);
      isAcknowledged(await send(sent), 'success');
      t.is(await statusOf(), 'paid');
      const before = await written();

      // When it comes again, then nothing is written (Alipay and epay sign no time)
      isAcknowledged(await send(sent), 'duplicate');
      clock.advance(60_000);
      isAcknowledged(await send(sign(payment)), 'duplicate, signed again');
      t.is(await written(), before);

      // When it comes with other content, then that content is not applied
      isAcknowledged(await send(sign({ ...payment, orderNumber: other.payment.orderNumber })), 'conflict');
      const conflicts = commands.notices.filter((notice) => notice.startsWith('conflict'));
      t.regex(conflicts.join(), /^conflict \w+-[0-9a-f]{64}@\d$/);
      t.is(await other.statusOf(), 'created');

      // When it differs from the order, then it waits for review
      const cheap = { ...other.payment, amount: 1 };
      isAcknowledged(await send(sign(cheap)), 'mismatch');
      t.is(await other.statusOf(), 'review');

      // When its order is unknown, or it is unreadable, then it is held
      const unknown = { ...payment, orderNumber: '01HZY3T9QK7M5N2P4R6S8V0W1X', transaction: 'txOfNobody' };
      isAcknowledged(await send(sign(unknown)), 'unknown order');
      const unreadable = { ...payment, amount: 'unreadable', transaction: 'txUnreadable' } as const;
      isAcknowledged(await send(sign(unreadable)), 'unreadable');
      const kept = await commands.paymentCallbacks.unmatched({ limit: 5 });
      t.deepEqual(kept.map(({ reason }) => reason).sort(), ['unknown_order', 'unreadable']);
      t.is(await statusOf(), 'paid');
    },
  );

  test.serial(
    `A callback of ${name} that is refused, or that cannot be judged yet, touches no store`,
    async (t) => {
      // Given an order that waits to be paid
      const { clock, send, sign, place, written, isRefused, ask, platform, stranger } = await given(t, name);
      const { payment, statusOf } = await place();
      const before = await written();
      const genuine = sign(payment);
      const { payUnjudged } = platform;

      // When no callback pays it
      const forged = stranger.pay(payment, clock.now());
      isRefused(await send(forged), 'wrong_signature');
      isRefused(await send({ body: '{}' }), 'wrong_signature', 'no signature');
      isRefused(await send({ body: 'success=success' }), 'wrong_signature', 'the word itself');
      if (payUnjudged !== undefined) isRefused(await send(payUnjudged(payment, clock.now())), 'unjudged');
      const large = (bytes: number) =>
        send({ ...genuine, method: 'POST', query: '', body: 'x'.repeat(bytes) });
      isRefused(await large(262_144), 'wrong_signature', 'the largest body');
      isRefused(await large(262_145), 'too_large');
      const headers = { ...genuine.headers, 'content-encoding': 'gzip' };
      isRefused(await send({ ...genuine, method: 'POST', query: '', body: 'x', headers }), 'encoded');
      const put = await ask(`${path}/${name}`, { method: 'PUT', body: 'x' });
      t.is(put.headers.get('allow'), 'GET, HEAD, POST');

      // Then nothing is written
      t.is(await written(), before);
      t.is(await statusOf(), 'created');
    },
  );

  test.serial(`A callback of ${name} must come again while the log fails or hangs`, async (t) => {
    const { log, commands, ends, send, sign, place, withLog, ...judges } = await given(t, name);
    const { isAcknowledged, isRefused } = judges;
    const { payment, statusOf } = await place();
    const sendNow = (): Promise<ReceivedBytes> => send(sign(payment));
    const fails = () => Promise.reject(new StoreUnavailable('away'));
    const breaks = () => Promise.reject(new Error('success'));
    // The store's limit ends the hanging calls, later than every caller's limit.
    const hanging: (() => void)[] = [];
    const hangs = () =>
      new Promise<never>((_resolve, reject) => {
        hanging.push(() => reject(new StoreUnavailable('too late')));
      });
    const endHanging = (): void => {
      ends.clear();
      for (const end of hanging.splice(0)) end();
    };

    // Given a log that cannot be written, when the payment arrives, then it is not acknowledged
    isRefused(await withLog({ read: fails, append: fails }, sendNow), 'store_away', 'it is away');
    isRefused(await withLog({ append: fails }, sendNow), 'store_away', 'it cannot be written');
    isRefused(await withLog({ append: breaks }, sendNow), 'broken', 'an unexpected error');

    // Given a log that hangs, when 3 s have passed (src/areas/payments/README.md#payment-callbacks)
    ends.add(3_000);
    isRefused(await withLog({ append: hangs }, sendNow), 'unknown', 'it hangs');
    endHanging();

    // Given a log that accepts the callback and hangs while it is settled: it is acknowledged. A repetition is refused,
    // because it is not known to be settled.
    ends.add(1_500);
    const hangsLater: Partial<EventStore> = {
      append: (stream, expected, events, options) =>
        events[0]?.type === 'PaymentReported' ? log.append(stream, expected, events, options) : hangs(),
    };
    await withLog(hangsLater, async () => {
      isAcknowledged(await sendNow(), 'accepted');
      isRefused(await sendNow(), 'store_away', 'accepted, and not settled');
    });
    t.is(commands.failures.length, 1);
    t.is(await statusOf(), 'created');

    // Given a log that can be written but not read: a repetition may not be settled yet
    isRefused(await withLog({ read: fails }, sendNow), 'store_away', 'it cannot be read');

    // When all stores work again
    endHanging();
    isAcknowledged(await sendNow(), 'later');
    t.is(await statusOf(), 'paid');
  });

  test.serial(`GET counts for ${name} only as a confirmation, and HEAD never counts`, async (t) => {
    // Given an order, and its payment in a query
    const { send, sign, place, written, isAcknowledged, isRefused, isShown, stranger, looksForSuccess } =
      await given(t, name);
    const { payment, statusOf } = await place();
    const asQuery = ({ query, body, headers }: SentCallback) => ({
      headers,
      query: query === '' ? `?${name === 'alipay' ? body : encodeURIComponent(body)}` : query,
    });
    const [genuine, forged] = [asQuery(sign(payment)), asQuery(stranger.pay(payment, new Date()))];
    const before = await written();

    // When it is requested (buyers of Alipay return with a GET, which only shows)
    const head = await send({ ...genuine, method: 'HEAD' });
    t.deepEqual([head.status, head.body.length], [200, 0]);
    isShown(await send({ method: 'GET' }), 'without a query');
    const refuses = looksForSuccess;
    if (refuses) isRefused(await send({ ...forged, method: 'GET' }), 'wrong_signature');
    else isShown(await send({ ...forged, method: 'GET' }), 'forged');
    t.is(await written(), before);
    const answer = await send({ ...genuine, method: 'GET' });

    // Then only epay's GET has paid, and its POST has the same meaning
    if (name !== 'epay') isShown(answer, 'genuine');
    else isAcknowledged(answer, 'genuine');
    t.is(await statusOf(), name === 'epay' ? 'paid' : 'created');
    if (name === 'epay') isAcknowledged(await send({ body: genuine.query.slice(1) }), 'by POST');
  });

  test.serial(`Callbacks of ${name} must come again while the platform is not configured`, async (t) => {
    const { clock, send, isRefused, isShown, platform, looksForSuccess } = await given(t, name, false);
    const payment = { orderNumber: 'x', transaction: 'txOfNobody', amount: 999, currency: 'USD' };
    isRefused(await send(platform.pay(payment, clock.now())), 'not_configured');
    isRefused(await send({ body: '' }), 'not_configured', 'nothing at all');
    isShown(await send({ method: 'GET' }), 'GET without a query');
    const asked = await send({ method: 'GET', query: '?success=1' });
    if (looksForSuccess) isRefused(asked, 'not_configured', 'GET with a query');
    else isShown(asked, 'GET with a query');
  });
}
