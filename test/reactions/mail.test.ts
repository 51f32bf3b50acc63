import test, { type ExecutionContext } from 'ava';
import { makeMailAddressChange } from '../../src/commands/mail-address-change.js';
import { makeMailInvitation } from '../../src/commands/mail-invitation.js';
import { makeMailLoginCode } from '../../src/commands/mail-login-code.js';
import { loginCodeAggregate } from '../../src/domain/login-code/login-code.js';
import { projectAggregate } from '../../src/domain/project/project.js';
import { userAggregate } from '../../src/domain/user/user.js';
import { derivedId } from '../../src/event-sourcing/ids.js';
import type { StoredEvent } from '../../src/event-sourcing/domain-event.js';
import { type ReactionRunner, startReactions } from '../../src/event-sourcing/reaction-runner.js';
import { makeMailer } from '../../src/integrations/mail/mailer.js';
import { parseSmtpUrl } from '../../src/integrations/mail/smtp-url.js';
import { makeKeyring } from '../../src/keys/keyring.js';
import { makeAddressChangeCodes, makeLoginCodes } from '../../src/keys/login-codes.js';
import { makeMailAddressChanges } from '../../src/reactions/mail-address-changes.js';
import { makeMailInvitations } from '../../src/reactions/mail-invitations.js';
import { makeMailLoginCodes } from '../../src/reactions/mail-login-codes.js';
import { makeUserReader } from '../../projections/users/reader.js';
import { makeSeededRandom, realClock } from '../support/clock.js';
import { type GivenStores, givenContext, givenStores } from '../support/given-stores.js';
import { makeMemoryReadModelStore } from '../support/memory-read-model-store.js';
import { type SmtpServerOptions, startSmtpServer, type TestSmtpServer } from '../support/smtp-server.js';

const publicUrl = 'https://stowage.example';
const codeKeys = makeKeyring([{ kid: 'c1', key: Buffer.alloc(32, 7) }]);
const loginCodes = makeLoginCodes(codeKeys);
const addressChangeCodes = makeAddressChangeCodes(codeKeys);

interface Scene {
  readonly stores: GivenStores;
  readonly smtp: TestSmtpServer;
  readonly refused: string[];
  /** Starts the reactions, from the beginning of the log; they are stopped when the test ends. */
  readonly start: () => ReactionRunner;
  /** Waits until nothing is open any more. */
  readonly settled: (runner: ReactionRunner) => Promise<void>;
  readonly events: (stream: string) => Promise<readonly StoredEvent[]>;
  readonly registerUser: (n: number, email: string, nickname: string) => Promise<string>;
  /** @returns the digest that names the stream, and the event's id */
  readonly issueCode: (n: number, options?: { expiresInMs?: number; at?: Date }) => Promise<Issued>;
}

interface Issued {
  readonly digest: string;
  readonly issueId: string;
  readonly userId: string;
}

async function given(t: ExecutionContext, options: SmtpServerOptions = {}): Promise<Scene> {
  const stores = await givenStores({ clock: { ...realClock, advance: () => undefined } });
  const { handler, sealer, digests, eventStore, stateStore, views } = stores;
  const smtp = await startSmtpServer(options);
  const server = parseSmtpUrl(smtp.url);
  if (server === null) throw new Error('the URL is none');
  const refused: string[] = [];
  const runners: ReactionRunner[] = [];
  t.teardown(async () => {
    await Promise.all(runners.map((runner) => runner.stop()));
    await smtp.close();
  });
  const deps = {
    mailer: makeMailer({ server, from: { name: 'Stowage', address: 'no-reply@stowage.example' } }),
    publicUrl,
    onRefused: (reaction: string, error: Error) => refused.push(`${reaction}: ${error.message}`),
  };
  const clock = realClock;
  const users = makeUserReader({ views, sealer });
  const reactions = [
    makeMailLoginCodes({ ...deps, mailLoginCode: makeMailLoginCode({ handler, sealer, loginCodes, clock }) }),
    makeMailAddressChanges({
      ...deps,
      mailAddressChange: makeMailAddressChange({ handler, sealer, addressChangeCodes, clock }),
    }),
    makeMailInvitations({ ...deps, mailInvitation: makeMailInvitation({ handler, sealer, users }) }),
  ];
  return {
    stores,
    smtp,
    refused,
    start: () => {
      const readModelStore = makeMemoryReadModelStore();
      const holder = `process ${runners.length}`;
      const runner = startReactions(
        { eventStore, stateStore, readModelStore, clock, random: makeSeededRandom(1), holder },
        reactions,
        {
          onRetry: () => undefined,
          onStopped: (name, error) => t.fail(`${name} stopped: ${String(error)}`),
        },
      );
      runners.push(runner);
      return runner;
    },
    settled: async (runner) => {
      const deadline = Date.now() + 10_000;
      const isSettled = async (): Promise<boolean> => {
        const head = await eventStore.head();
        return runner.statuses().every(({ open, position }) => open === 0 && position === head);
      };
      while (!(await isSettled())) {
        if (Date.now() > deadline) throw new Error(`still open: ${JSON.stringify(runner.statuses())}`);
        await realClock.sleep(5);
      }
    },
    events: (stream) => eventStore.read(stream),
    registerUser: async (n, email, nickname) => {
      const context = givenContext(n, new Date());
      const userId = derivedId(context, 'user');
      const seal = (field: string, text: string) => sealer.seal({ kind: 'person', userId }, field, text);
      await handler.handle(
        { aggregate: userAggregate, id: userId },
        {
          type: 'Register',
          email: await seal('email', email),
          emailDigest: digests.email(email),
          nickname: await seal('nickname', nickname),
          passwordHash: await seal('password_hash', 'hash'),
          capacityBytes: 1,
        },
        context,
      );
      return userId;
    },
    issueCode: async (n, { expiresInMs = 600_000, at = new Date() } = {}) => {
      const context = givenContext(n, at);
      const address = `ada${n % 100}@example.org`;
      const userId = derivedId(givenContext(n % 100, new Date(0)), 'user');
      const issueId = derivedId(context, 'login code');
      const digest = digests.email(address);
      await handler.handle(
        { aggregate: loginCodeAggregate, id: digest },
        {
          type: 'Issue',
          issueId,
          userId,
          email: await sealer.seal({ kind: 'person', userId }, 'email', address),
          codeKeyId: loginCodes.active(),
          expiresAt: new Date(at.getTime() + expiresInMs),
          now: at,
        },
        context,
      );
      return { digest, issueId, userId };
    },
  };
}

test('a code that was issued is mailed once, and the mail is found again by its event', async (t) => {
  const { start, settled, issueCode, smtp, events } = await given(t);
  const { digest, issueId } = await issueCode(1);
  await settled(start());
  const [mail] = smtp.mails;
  t.is(smtp.mails.length, 1);
  t.deepEqual(mail?.to, ['ada1@example.org']);
  t.is(
    mail?.email.text?.match(/\b[0-9]{6}\b/)?.[0],
    loginCodes.codeFor({ kid: 'c1', issueId, emailDigest: digest }),
  );
  const [issued, mailed] = await events(`logincode-${digest}`);
  t.is(mail?.email.messageId, `<${issued?.id ?? ''}@stowage.example>`);
  t.like(mailed, { type: 'LoginCodeMailed', data: { issue_id: issueId, outcome: 'accepted' } });
  t.like(mailed?.metadata, { actor: 'system:mail-login-codes', causation_id: issued?.id ?? '' });
});

test('after a lost mark, and in another process, nothing is mailed again', async (t) => {
  const { start, settled, issueCode, smtp } = await given(t);
  await issueCode(1);
  await issueCode(2);
  await settled(start());
  await settled(start());
  t.is(smtp.mails.length, 2);
});

test('a mail that is refused for good is recorded as refused, and not sent again', async (t) => {
  const { start, settled, issueCode, smtp, events, refused } = await given(t, {
    onRecipient: () => ({ code: 550, text: '5.1.1 nobody of that name' }),
  });
  const { digest } = await issueCode(1);
  await settled(start());
  await settled(start());
  t.is(smtp.connections(), 1);
  t.like((await events(`logincode-${digest}`)).at(-1), {
    type: 'LoginCodeMailed',
    data: { outcome: 'refused' },
  });
  t.deepEqual(refused, ['mail-login-codes: the mail server answered 550 5.1.1 to RCPT TO']);
});

test('a mail that is deferred is sent again, and one that waits does not hold up others', async (t) => {
  let deferrals = 0;
  const { start, settled, issueCode, smtp } = await given(t, {
    onRecipient: (address) => {
      if (address !== 'ada1@example.org' || deferrals === 2) return null;
      deferrals += 1;
      return { code: 451, text: 'later' };
    },
  });
  await issueCode(1);
  await issueCode(2);
  await settled(start());
  t.is(deferrals, 2);
  t.deepEqual(
    smtp.mails.map(({ to }) => to[0]),
    ['ada2@example.org', 'ada1@example.org'],
  );
});

test('a code that has expired, was used, tried too often, replaced, or whose owner is erased is not mailed', async (t) => {
  const { start, settled, issueCode, smtp, stores } = await given(t);
  const { handler, sealer } = stores;
  const now = new Date();
  const use = async ({ digest, issueId }: Issued, n: number, matches: boolean): Promise<void> => {
    const target = { aggregate: loginCodeAggregate, id: digest };
    await handler.handle(target, { type: 'Use', issueId, matches, now }, givenContext(n, now));
  };
  await issueCode(1, { expiresInMs: 1, at: new Date(now.getTime() - 10) });
  await use(await issueCode(2), 1_002, true);
  const tried = await issueCode(3);
  for (let n = 0; n < 5; n += 1) await use(tried, 2_000 + n, false);
  await issueCode(4);
  await issueCode(104, { at: new Date(now.getTime() + 61_000) });
  const erased = await issueCode(5);
  await sealer.destroy({ kind: 'person', userId: erased.userId });
  await settled(start());
  t.deepEqual(
    smtp.mails.map(({ to }) => to[0]),
    ['ada4@example.org'],
  );
});

test('a change of address is confirmed at the new address, with a code that only it knows', async (t) => {
  const { start, settled, registerUser, smtp, stores, events } = await given(t);
  const { handler, sealer, digests } = stores;
  const userId = await registerUser(1, 'ada@example.org', 'Ada');
  const context = givenContext(2, new Date());
  const changeId = derivedId(context, 'email change');
  const emailDigest = digests.email('lovelace@example.org');
  const target = { aggregate: userAggregate, id: userId };
  const request = {
    type: 'RequestEmailChange',
    changeId,
    email: await sealer.seal({ kind: 'person', userId }, 'email', 'lovelace@example.org'),
    emailDigest,
    codeKeyId: addressChangeCodes.active(),
    expiresAt: new Date(Date.now() + 600_000),
    now: new Date(),
  } as const;
  await handler.handle(target, request, context);
  await settled(start());
  const [mail] = smtp.mails;
  t.deepEqual(mail?.to, ['lovelace@example.org']);
  const code = addressChangeCodes.codeFor({ kid: 'c1', issueId: changeId, emailDigest });
  t.is(mail?.email.text?.match(/\b[0-9]{6}\b/)?.[0], code);
  t.like((await events(`user-${userId}`)).at(-1), {
    type: 'EmailChangeMailed',
    data: { change_id: changeId, outcome: 'accepted' },
  });
  // Erased, or replaced: no further mail.
  const next = givenContext(3, new Date());
  const later = { changeId: derivedId(next, 'email change'), now: new Date(Date.now() + 60_000) };
  await handler.handle(target, { ...request, ...later }, next);
  await handler.handle(target, { type: 'Erase' }, givenContext(4, new Date()));
  await settled(start());
  t.is(smtp.mails.length, 1);
});

test('an invitation names project, role and inviter; one that was withdrawn is not mailed', async (t) => {
  const { start, settled, registerUser, smtp, stores, events } = await given(t);
  const { handler, sealer, digests } = stores;
  const actorId = await registerUser(1, 'ada@example.org', 'Ada <script>');
  const projectId = derivedId(givenContext(2, new Date(0)), 'project');
  const target = { aggregate: projectAggregate, id: projectId };
  await handler.handle(
    target,
    { type: 'Create', name: 'Summer & film', ownerId: actorId },
    givenContext(3, new Date()),
  );
  const invite = async (n: number, address: string): Promise<string> => {
    const context = givenContext(n, new Date());
    const invitationId = derivedId(context, 'invitation');
    const email = await sealer.seal({ kind: 'invitation', projectId, invitationId }, 'email', address);
    const command = { type: 'InviteMember', actorId, invitationId, email, role: 'editor' } as const;
    await handler.handle(target, { ...command, emailDigest: digests.email(address) }, context);
    return invitationId;
  };
  const invitationId = await invite(4, 'eve@example.org');
  const memberId = await invite(5, 'bob@example.org');
  await handler.handle(target, { type: 'RemoveMember', actorId, memberId }, givenContext(6, new Date()));
  await settled(start());
  t.is(smtp.mails.length, 1);
  t.deepEqual(smtp.mails[0]?.to, ['eve@example.org']);
  const { subject, text, html } = smtp.mails[0]?.email ?? {};
  t.is(subject, 'Invitation to the project Summer & film');
  t.true(text?.includes('Ada <script> invites you to the project "Summer & film" on Stowage, as editor.'));
  t.true(html?.includes('Ada &lt;script&gt; invites you'));
  t.like((await events(`project-${projectId}`)).at(-1), {
    type: 'InvitationMailed',
    data: { invitation_id: invitationId, outcome: 'accepted' },
  });
});
