import test from 'ava';
import { makeServiceClient, textOf } from '../support/clients/service-client.js';
import { signStandard } from '../support/clients/sign-callbacks.js';
import { freePort, givenDirectory, givenService } from '../support/servers/service-process.js';
import { startSmtpServer } from '../support/servers/smtp-server.js';

const secret = `whsec_${Buffer.from('test only, the secret of the platform').toString('base64')}`;

test('A payment of an erased buyer reaches the operators by mail, which names no person', async (t) => {
  // Given a service that mails its operators, and a buyer who is erased before the payment
  const smtp = await startSmtpServer();
  t.teardown(() => smtp.close());
  const directory = givenDirectory(t);
  const start = async () => {
    const service = await givenService(t, {
      directory,
      port: await freePort(),
      environment: {
        PAYMENT_STANDARD_WEBHOOK_SECRETS: secret,
        SMTP_URL: smtp.url,
        OPERATOR_MAIL: 'ops@example.org, money@example.org',
      },
    });
    return { service, client: makeServiceClient(service.url) };
  };
  const { service, client } = await start();
  const { headers } = await client.register('canary.ada@example.org', 'Correct-Horse-9');
  const placed = await client.post(
    '/api/v1/orders',
    { plan_id: 'capacity-100g', provider: 'standard' },
    headers,
  );
  t.is(placed.status, 201, placed.text);
  const number = textOf(placed.json(), 'number');
  t.is((await client.send('/api/v1/auth/me', { method: 'DELETE', headers })).status, 204);
  const { headers: signature, body } = signStandard(
    {
      type: 'payment.paid',
      timestamp: '2026-01-02T03:04:05.000Z',
      data: { order_number: number, transaction_id: 'tx-1', amount: 999, currency: 'USD' },
    },
    { id: 'msg-1', secret, at: new Date() },
  );
  const path = '/api/v1/payment/webhooks/standard';
  t.is((await client.send(path, { method: 'POST', headers: { ...signature }, body })).status, 200);
  // When the service looks for payments that wait, at its next start at the latest
  await service.stop();
  const again = await start();
  const mails = await smtp.received(2);
  // Then each operator has one mail with the order, the reason and the amount
  t.deepEqual(mails.flatMap(({ to }) => to).sort(), ['money@example.org', 'ops@example.org']);
  for (const { email } of mails) {
    t.is(email.subject, 'Payments wait for a decision');
    t.true(
      email.text?.includes(`order ${number}: buyer_erased (paid, 999 minor units of USD), payment standard-`),
    );
    t.notRegex(`${email.text ?? ''}${email.html ?? ''}`, /canary|Ada/);
  }
  // and a further start sends none.
  await again.service.stop();
  const last = await start();
  await last.service.stop();
  t.is(smtp.mails.length, 2);
  t.notRegex([service, again.service, last.service].map((one) => one.output()).join(), /ops@|money@|canary/);
});
