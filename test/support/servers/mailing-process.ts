import { createInterface } from 'node:readline';
import { bringUpMails } from '../../../src/composition/tasks/webhooks.js';
import { bringUpReactions } from '../../../src/composition/tasks/make-reactions.js';
import { openServices } from '../../../src/composition/services.js';
import { readConfig } from '../../../src/config/config.js';
import { loginCodeAggregate } from '../../../src/areas/accounts/domain/login-code/login-code.js';
import { userAggregate } from '../../../src/areas/accounts/domain/user/user.js';
import type { Clock } from '../../../src/kit/time/clock.js';
import { derivedId, stepContext } from '../../../src/event-sourcing/deciding/command-handler.js';
import { realClock } from '../fakes/clock.js';

/**
 * A process that registers people over a data directory, changes their passwords and issues login codes for them. The
 * service's own reactions mail these until the process is killed or reads `settle`. Then it waits until no reaction is
 * open and no mail waits, prints the log, and ends. Its clock is ahead by the given milliseconds, so that a test need not wait for claims
 * to expire.
 */
const [aheadMs = '0', firstCode = '0', codes = '0', expiresInMs = '0'] = process.argv.slice(2);
const clock: Clock = {
  ...realClock,
  now: () => new Date(Date.now() + Number(aheadMs)),
};
const services = await openServices(readConfig(), { clock, passwordScrypt: { N: 2, r: 1, p: 1 } });
await services.generations.start();
// No view runs here, and no mail needs one.
const noViews = { shows: () => false };
const reactions = bringUpReactions(services, noViews, (error) => {
  throw error;
});
const mails = bringUpMails(services);
for (let n = Number(firstCode); n < Number(firstCode) + Number(codes); n += 1) await issue(n);
process.stdout.write('issued\n');
createInterface({ input: process.stdin }).on('line', () => {
  void settle();
});

async function issue(n: number): Promise<void> {
  const { handler, sealer, digests, keyRings } = services;
  const context = {
    commandId: `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`,
    causationId: 'a request',
    correlationId: 'a request',
    actor: 'anonymous',
    time: clock.now(),
  };
  const address = `ada${n}@example.org`;
  const userId = derivedId(context, 'user');
  const seal = (field: string, text: string) => sealer.seal({ kind: 'person', userId }, field, text);
  const [email, password_hash] = [await seal('email', address), await seal('password_hash', 'a hash')];
  const user = { aggregate: userAggregate, id: userId };
  const email_digest = digests.email(address);
  const nickname = await seal('nickname', 'Ada');
  const register = {
    type: 'Register',
    email,
    email_digest,
    nickname,
    password_hash,
    capacityBytes: 1,
  } as const;
  await handler.handle(user, register, context);
  const session = { id: derivedId(context, 'session'), epoch: 0 };
  const changePassword = { type: 'ChangePassword', password_hash, checkedAgainst: null, session } as const;
  await handler.handle(user, changePassword, stepContext(context, 'change the password'));
  const issueCode = {
    type: 'Issue',
    requester: 'known',
    issue_id: derivedId(context, 'login code'),
    user_id: userId,
    email,
    code_key_id: keyRings.code.active().kid,
    expires_at: new Date(context.time.getTime() + Number(expiresInMs)).toISOString(),
    now: context.time,
  } as const;
  await handler.handle({ aggregate: loginCodeAggregate, id: email_digest }, issueCode, context);
}

async function settle(): Promise<void> {
  const { eventStore } = services;
  for (;;) {
    const head = await eventStore.head();
    const isRead = reactions.statuses().every(({ open, position }) => open === 0 && position === head);
    if (isRead && (await services.stores.stateStore.list('outbox/', { limit: 1 })).length === 0) break;
    await realClock.sleep(20);
  }
  await reactions.stop();
  await mails.stop();
  const { events } = await eventStore.readAll({ after: null, limit: 1_000_000 });
  process.stdout.write(
    `${JSON.stringify(events.map(({ id, stream, type, data }) => ({ id, stream, type, data })))}\n`,
  );
  await services.close();
  process.exit(0);
}
