import test, { type ExecutionContext } from 'ava';
import { makeServiceClient } from '../support/clients/service-client.js';
import { eventually } from '../support/eventually.js';
import { type Act, startScriptedSmtp, type Step, steps } from '../support/servers/smtp-server.js';
import { givenDirectory, givenService } from '../support/servers/service-process.js';

/** A minute of RFC 5321 takes 60 ms. */
const scaled = {
  ...{ SMTP_CONNECT_MS: '300', SMTP_GREETING_MS: '300', SMTP_REPLY_MS: '600', MAIL_RETRY_MS: '20' },
  MAIL_UNKNOWN_MS: '60,600,3600',
};

/** Starts the service on a data directory that lasts for the test. Each call starts another process. */
async function givenMailing(
  t: ExecutionContext,
  SMTP_URL: string,
  settings: Readonly<Record<string, string>>,
) {
  const options = { directory: givenDirectory(t), environment: { SMTP_URL, ...settings } };
  let service = await givenService(t, options);
  return {
    register: (name: string) =>
      makeServiceClient(service.url).register(`${name}@example.org`, 'Correct-Horse-7-Battery'),
    kill: () => service.kill(),
    restart: async () => {
      service = await givenService(t, options);
    },
  };
}

test('A server that is slow at every step, drops and refuses gets each mail once, and four times where it never answers', async (t) => {
  const late = { greeting: 200, EHLO: 400, MAIL: 400, RCPT: 400, DATA: 400, content: 400 };
  /** What the server does to a recipient at a step, time after time; the last act stays. */
  const acts: Readonly<Record<string, readonly Act[]>> = {
    'unknown content': ['silence'],
    'refused RCPT': [{ reply: '550 5.1.1 unknown' }],
    'dropped content': ['drop', {}],
    'silent DATA': ['silence', 'silence', {}],
  };
  const seen = new Map<string, number>();
  const act = (step: Step, recipient: string): Act => {
    const key = `${recipient.split('@')[0] ?? ''} ${step}`;
    const times = seen.get(key) ?? 0;
    seen.set(key, times + 1);
    return acts[key]?.[times] ?? acts[key]?.at(-1) ?? { afterMs: late[step] };
  };
  const { url, mails } = await startScriptedSmtp(t, act);
  const { register } = await givenMailing(t, url, scaled);
  const names = ['slow', 'dropped', 'silent', 'refused', 'unknown'];
  for (const name of names) await register(name);
  const copies = (name: string) => mails.filter(({ recipient }) => recipient === `${name}@example.org`);
  await eventually(
    'all mails have their end',
    () => copies('unknown').length === 4 && copies('silent').length > 0,
  );
  // The next copy would come within a second.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  t.deepEqual(
    names.map((name) => copies(name).length),
    [1, 2, 1, 0, 4],
  );
  for (const name of names) t.true(new Set(copies(name).map(({ messageId }) => messageId)).size <= 1, name);
  for (const name of ['slow', 'dropped', 'silent'])
    t.is(copies(name).filter(({ isAccepted }) => isAccepted).length, 1, name);
});

test('A server that says nothing at any step for ten minutes holds up no other recipient', async (t) => {
  // Given a server that says nothing to one mail at each step; which recipient a connection is for shows at RCPT only
  const silent: Partial<Record<Step, boolean>> = {};
  const { url, mails } = await startScriptedSmtp(t, (step, recipient) => {
    const isHeld = recipient.startsWith('held') || (recipient === '' && silent[step] === false);
    if (!isHeld || silent[step] !== false) return undefined;
    silent[step] = true;
    return 'silence';
  });
  const { register } = await givenMailing(t, url, {});
  const waitOf = async (name: string): Promise<number> => {
    const begunAt = Date.now();
    await register(name);
    const accepted = () => mails.find((mail) => mail.isAccepted && mail.recipient.startsWith(name));
    return (await eventually(`the mail of ${name}`, accepted)).at - begunAt;
  };
  const aloneMs = await waitOf('alone');
  for (const step of steps) {
    silent[step] = false;
    await register(`held-${step.toLowerCase()}`);
    await eventually(`silence at ${step}`, () => silent[step]);
  }
  // When another registers, then its mail is accepted while all of these are under way
  const amongMs = await waitOf('among');
  t.log(`accepted after ${amongMs} ms, and after ${aloneMs} ms before the server fell silent`);
  t.deepEqual(
    mails.filter(({ isAccepted }) => isAccepted).map(({ recipient }) => recipient),
    ['alone@example.org', 'among@example.org'],
  );
});

test('A kill -9 at each step of a mail loses none', async (t) => {
  let armed: Step | null = null;
  let onStep = (): void => undefined;
  const { url, mails } = await startScriptedSmtp(t, (step) => {
    if (step !== armed) return undefined;
    armed = null;
    onStep();
    return 'silence';
  });
  const { register, kill, restart } = await givenMailing(t, url, scaled);
  for (const step of steps) {
    const reached = new Promise<void>((resolve) => (onStep = resolve));
    armed = step;
    const registered = register(`killed-${step.toLowerCase()}`);
    await registered;
    await reached;
    await kill();
    await restart();
    const copies = () =>
      mails.filter(({ recipient }) => recipient.startsWith(`killed-${step.toLowerCase()}@`));
    await eventually(`the mail of ${step} arrives`, () => copies().some(({ isAccepted }) => isAccepted));
    t.true(copies().length <= 2, step);
  }
});
