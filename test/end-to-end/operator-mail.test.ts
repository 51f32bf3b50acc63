import test from 'ava';
import { makeServiceClient, textOf } from '../support/clients/service-client.js';
import { givenDirectory, givenService } from '../support/servers/service-process.js';
import { givenSmtpServer } from '../support/servers/smtp-server.js';
import { payOrder, placeOrder, standardEnvironment } from '../support/clients/standard-platform.js';

test('A payment of an erased buyer reaches the operators by mail, which names no person', async (t) => {
  // Given a service that mails its operators, and a buyer who is erased before the payment
  const smtp = await givenSmtpServer(t);
  const directory = givenDirectory(t);
  const start = async () => {
    const service = await givenService(t, {
      directory,
      environment: {
        ...standardEnvironment,
        SMTP_URL: smtp.url,
        OPERATOR_MAIL: 'ops@example.org, money@example.org',
      },
    });
    return { service, client: makeServiceClient(service.url) };
  };
  const { service, client } = await start();
  const { headers } = await client.register('canary.ada@example.org', 'Correct-Horse-9');
  const order = await placeOrder(client, headers);
  const number = textOf(order, 'number');
  t.is((await client.delete('/api/v1/auth/me', headers)).status, 204);
  t.is((await payOrder(client, order)).status, 200);
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
