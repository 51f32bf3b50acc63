import test from 'ava';
import { makeServiceClient, signedIn } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { freePort, makeDataDirectory, startService } from '../support/servers/service-process.js';
import { startSmtpServer } from '../support/servers/smtp-server.js';
import { makeTcpProxy, type TcpProxy } from '../support/servers/proxies.js';

const email = 'ada@example.org';

/** How the mail server goes away, and how it comes back. */
const outages: Readonly<Record<string, readonly [(proxy: TcpProxy) => void, (proxy: TcpProxy) => void]>> = {
  'refuses connections': [
    (proxy) => {
      proxy.refusing = true;
    },
    (proxy) => {
      proxy.refusing = false;
    },
  ],
  'accepts connections and says nothing': [
    (proxy) => {
      proxy.freeze();
    },
    (proxy) => {
      proxy.thaw();
    },
  ],
};

for (const [what, [leave, comeBack]] of Object.entries(outages)) {
  test(`While the mail server ${what}, the served process answers, and it mails a code once when the server is back`, async (t) => {
    // Given a mail server that is away
    const smtp = await startSmtpServer();
    const proxy = await makeTcpProxy({ host: '127.0.0.1', port: smtp.port });
    const directory = await makeDataDirectory();
    leave(proxy);
    const service = await startService({
      directory: directory.path,
      port: await freePort(),
      environment: { SMTP_URL: `smtp://127.0.0.1:${proxy.port}`, SMTP_GREETING_MS: '500' },
    });
    t.teardown(async () => {
      await service.kill();
      await proxy.close();
      await smtp.close();
      await directory.remove();
    });
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
    const [code = ''] = /\b[0-9]{6}\b/.exec(mail?.email.text ?? '') ?? [];
    const reply = await client.post('/api/v1/auth/email-code/login', { email, code });
    t.is(reply.status, 200, reply.text);
    t.is(signedIn(reply.json()).userId, userId);
    t.is(smtp.mails.filter(({ email: { subject } }) => subject === mail?.email.subject).length, 1);
    t.is(await service.stop(), 0);
  });
}
