import test from 'ava';
import { asObject, makeServiceClient, signedIn } from '../support/service-client.js';
import { startInProcess } from '../support/service-in-process.js';
import { makeDataDirectory } from '../support/service-process.js';
import { startSmtpServer } from '../support/smtp-server.js';

const password = 'Correct-Horse-9';
const email = 'ada@example.com';

test('Given mail, when a code is asked for, then it arrives and signs in; the reply comes no earlier than 300 ms', async (t) => {
  const data = await makeDataDirectory();
  const smtp = await startSmtpServer();
  const service = await startInProcess({ directory: data.path, environment: { SMTP_URL: smtp.url } });
  t.teardown(async () => {
    await service.close();
    await smtp.close();
    await data.remove();
  });
  const client = makeServiceClient(service.url);
  const { userId } = await client.register(email, password);

  const began = performance.now();
  for (const address of ['nobody@example.com', email]) {
    t.is((await client.post('/api/v1/auth/email-code/send', { email: address })).status, 200);
  }
  t.true(performance.now() - began >= 600);
  const [mail] = await smtp.received(1);
  t.deepEqual(mail?.to, [email]);
  const [code = ''] = /\b[0-9]{6}\b/.exec(mail?.email.text ?? '') ?? [];
  const reply = await client.post('/api/v1/auth/email-code/login', { email, code });
  t.is(reply.status, 200);
  t.is(signedIn(reply.json()).userId, userId);
  t.true(asObject(asObject(reply.json()['data'])['user'])['email_verified']);
  t.is((await client.post('/api/v1/auth/email-code/login', { email, code })).status, 401);
  t.is(smtp.mails.length, 1);
});
