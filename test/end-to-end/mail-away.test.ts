import test from 'ava';
import { codeIn, makeServiceClient, signedIn } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { givenService } from '../support/servers/service-process.js';
import { givenSmtpServer } from '../support/servers/smtp-server.js';
import { makeTcpProxy, noAnswers, refusedConnections } from '../support/servers/proxies.js';

const email = 'ada@example.org';

const outages = {
  'refuses connections': refusedConnections,
  'accepts connections and says nothing': noAnswers,
};

for (const [what, [leave, comeBack]] of Object.entries(outages)) {
  test(`While the mail server ${what}, the served process answers, and it mails a code once when the server is back`, async (t) => {
    // Given a mail server that is away
    const smtp = await givenSmtpServer(t);
    const proxy = await makeTcpProxy({ host: '127.0.0.1', port: smtp.port });
    t.teardown(() => proxy.close());
    leave(proxy);
    const environment = { SMTP_URL: `smtp://127.0.0.1:${proxy.port}`, SMTP_GREETING_MS: '500' };
    const service = await givenService(t, { environment });
    // When people register and ask for codes, then the service answers as always, and is ready
    const client = makeServiceClient(service.url);
    const { userId, headers } = await client.register(email, 'Correct-Horse-7');
    t.is((await client.post('/api/v1/auth/email-code/send', { email })).status, 200);
    t.is((await client.post('/api/v1/projects', { name: 'Launch' }, headers)).status, 201);
    await eventually('the log names the mail', () => service.output().includes('the mail was not sent'));
    t.is((await fetch(`${service.url}/readyz`)).status, 200);
    t.deepEqual([...smtp.mails, ...smtp.confirmations], []);
    // When the server is back, then the mail arrives, and its code signs in
    comeBack(proxy);
    const [mail] = await smtp.received(1);
    const code = codeIn(mail?.email.text);
    const reply = await client.post('/api/v1/auth/email-code/login', { email, code });
    t.is(reply.status, 200, reply.text);
    t.is(signedIn(reply.json()).userId, userId);
    t.is(smtp.mails.filter(({ email: { subject } }) => subject === mail?.email.subject).length, 1);
    t.is(await service.stop(), 0);
  });
}
