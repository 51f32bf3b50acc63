import test, { type ExecutionContext } from 'ava';
import type { CommandHandler } from '../../../../src/event-sourcing/deciding/command-handler.js';
import { type UserCommand, userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import type { StoredEvent } from '../../../../src/event-sourcing/ports/domain-event.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import { mailSecurityNotices } from '../../../../src/areas/accounts/commands/security-notices.js';
import { makeKeyring } from '../../../../src/keys/rings/keyring.js';
import { makeMailedCodes } from '../../../../src/keys/codes/login-codes.js';
import { digest, otherDigest } from '../../../support/examples/ids.js';
import { enrolment_id } from '../../../support/examples/user.js';
import { givenContext } from '../../../support/given/given-stores.js';
import type { ReceivedMail, SmtpServerOptions } from '../../../support/servers/smtp-server.js';
import { givenMail, type MailScene, publicUrl } from '../../../support/simulation/reactions/mail-scene.js';

const { addressRevertCodes } = makeMailedCodes(makeKeyring([{ kid: 'c1', key: Buffer.alloc(32, 7) }]));
const email = 'ada@example.org';
const newEmail = 'lovelace@example.net';
const dayMs = 24 * 3_600_000;

interface Scene extends MailScene {
  readonly userId: string;
  readonly run: (...commands: readonly UserCommand[]) => Promise<void>;
  readonly commands: Commands;
  /** Returns the events of the account by type. */
  readonly happened: (type: string) => Promise<readonly StoredEvent[]>;
  /** Returns the recorded outcomes of the notice about an event. */
  readonly outcomes: (eventId: string | undefined) => Promise<readonly StoredEvent[]>;
}

type Commands = Awaited<ReturnType<typeof commandsFor>>;

/** Registers a user whose address is not proved. */
async function given(
  t: ExecutionContext,
  options: SmtpServerOptions & { readonly wrap?: (handler: CommandHandler) => CommandHandler } = {},
): Promise<Scene> {
  const { wrap = (handler: CommandHandler) => handler, ...smtpOptions } = options;
  const scene = await givenMail(
    t,
    (deps, stores) => [
      mailSecurityNotices({ ...deps, ...stores, addressRevertCodes, handler: wrap(stores.handler) }),
    ],
    smtpOptions,
  );
  const userId = await scene.registerUser(1, email, 'Ada');
  let n = 100;
  const run = async (...commands: readonly UserCommand[]): Promise<void> => {
    for (const command of commands) {
      const context = givenContext((n += 1), new Date());
      await scene.stores.handler.handle({ aggregate: userAggregate, id: userId }, command, context);
    }
  };
  return {
    ...scene,
    userId,
    run,
    commands: await commandsFor(scene, userId),
    happened: async (type) => (await scene.events(`user-${userId}`)).filter((event) => event.type === type),
    outcomes: (eventId = '') => scene.events(`securitynotice-${eventId}`),
  };
}

async function commandsFor({ stores: { sealer, digests } }: MailScene, userId: string) {
  const seal = (field: string, text: string) => sealer.seal({ kind: 'person', userId }, field, text);
  const change_id = '019b7d00-0000-7000-8000-0000000000c1';
  const email_digest = digests.email(newEmail);
  const now = new Date();
  const password_hash = await seal('password_hash', 'another hash');
  const byTotp = (step: number) => ({ kind: 'totp', enrolment_id, step }) as const;
  return {
    proveAddress: { type: 'ProveEmail', email_digest: digests.email(email) },
    changePassword: {
      type: 'ChangePassword',
      password_hash,
      checkedAgainst: null,
      session: { id: '019b7d00-0000-7000-8000-0000000000e1', epoch: Infinity },
    },
    enrol: { type: 'EnrolTotp', enrolment_id, secret: await seal('totp_secret', 'a secret') },
    confirm: {
      type: 'ConfirmTotp',
      enrolment_id,
      session: { id: enrolment_id, epoch: Infinity },
      step: 1,
      recoveryCodes: [digest],
    },
    passByTotp: { type: 'PassSecondFactor', factor: byTotp(2) },
    passByRecoveryCode: { type: 'PassSecondFactor', factor: { kind: 'recovery-code', digest } },
    replaceRecoveryCodes: {
      type: 'ReplaceRecoveryCodes',
      factor: byTotp(3),
      session: { id: enrolment_id, epoch: Infinity },
      recoveryCodes: [otherDigest],
    },
    removeTotp: {
      type: 'RemoveTotp',
      factor: byTotp(4),
      session: { id: enrolment_id, epoch: Infinity },
    },
    requestAddress: {
      type: 'RequestEmailChange',
      change_id,
      email: await seal('email', newEmail),
      email_digest,
      code_key_id: 'c1',
      expires_at: new Date(now.getTime() + 600_000).toISOString(),
      now,
    },
    changeAddress: { type: 'CompleteEmailChange', change_id, email_digest, code_key_id: 'c1', now },
    revert: { type: 'RevertEmailChange', change_id, byCode: true, now },
    rehash: {
      type: 'RehashPassword',
      password_hash: await seal('password_hash', 'the same, hashed again'),
      checkedAgainst: password_hash,
    },
    erase: { type: 'Erase' },
  } as const satisfies Record<string, UserCommand>;
}

const subjects = (mails: readonly ReceivedMail[]) =>
  mails.map(({ email: { subject } }) => subject ?? '').sort();

/** A notice: its subject, its recipient, and the type of its event. */
type Told = readonly [subject: string, to: string, type: string];

/** Asserts that one of the mails is the notice about the last event of its type, and that its outcome is recorded. */
async function checkNotice(
  t: ExecutionContext,
  { happened, outcomes }: Scene,
  mails: readonly ReceivedMail[],
  [subject, to, type]: Told,
): Promise<void> {
  const event = (await happened(type)).at(-1);
  if (event === undefined) throw new Error(`there is no ${type}`);
  const mail = mails.find((candidate) => candidate.email.messageId === `<${event.id}@stowage.example>`);
  t.deepEqual(mail?.to, [to]);
  t.is(mail?.email.subject, subject);
  const at = event.recordedAt.toISOString();
  t.true(mail?.email.text?.startsWith(`On ${at.slice(0, 10)} at ${at.slice(11, 16)} UTC, `));
  const marks = await outcomes(event.id);
  t.is(marks.length, 1);
  t.like(marks[0], { type: 'SecurityNoticeMailed', data: { outcome: 'accepted' } });
  t.like(marks[0]?.metadata, { actor: 'system:mail-account-notices', causation_id: event.id });
}

test('Each change of the credentials leads to one notice to the address that the account had until then', async (t) => {
  const scene = await given(t);
  const { commands, run, start, settled, smtp } = scene;
  const { proveAddress, changePassword, enrol, confirm, passByTotp, passByRecoveryCode } = commands;
  const { replaceRecoveryCodes, removeTotp, requestAddress, changeAddress, rehash } = commands;
  const runner = start();
  const expect = async (command: UserCommand, ...told: readonly Told[]): Promise<void> => {
    const before = smtp.mails.length;
    await run(command);
    await settled(runner);
    const mails = smtp.mails.slice(before);
    t.is(mails.length, told.length, command.type);
    for (const one of told) await checkNotice(t, scene, mails, one);
  };
  // The first proof of the address by a sign-in is one notice. Registering is none.
  await expect(proveAddress, [
    'What others may have set up in your account is void',
    email,
    'CredentialsVoided',
  ]);
  await expect(changePassword, ['Your password was changed', email, 'PasswordChanged']);
  await expect(rehash);
  await expect(enrol);
  // The first recovery codes come with the second factor and replace none.
  await expect(confirm, ['Two-factor authentication was switched on', email, 'TotpConfirmed']);
  await expect(passByTotp);
  await expect(passByRecoveryCode, ['A recovery code was used', email, 'RecoveryCodeUsed']);
  await expect(replaceRecoveryCodes, ['New recovery codes were issued', email, 'RecoveryCodesIssued']);
  await expect(removeTotp, ['Two-factor authentication was switched off', email, 'TotpRemoved']);
  await expect(requestAddress);
  await expect(changeAddress, ['The address of your account was changed', email, 'EmailChanged']);
  // Later notices go to the new address.
  await expect(changePassword, ['Your password was changed', newEmail, 'PasswordChanged']);
  // After a lost checkpoint, another process sends none of them again.
  await runner.stop();
  await settled(start());
  t.is(smtp.mails.length, 8);
  const links = smtp.mails.flatMap(({ email: { text = '', html = '' } }) =>
    [...`${text}${html}`.matchAll(/https?:\/\/[^\s"<]+/g)].map(([link]) => link),
  );
  t.deepEqual(new Set(links), new Set([publicUrl]));
  t.false(smtp.mails.some(({ email: { text, html } }) => `${text ?? ''}${html ?? ''}`.includes(newEmail)));
});

test('The notice of a removed app voids no recovery codes in words that stay beside a passkey', async (t) => {
  const scene = await given(t);
  const { commands, run, start, settled, smtp } = scene;
  const session = { id: enrolment_id, epoch: Infinity };
  const sealed = await scene.stores.sealer.seal({ kind: 'person', userId: scene.userId }, 'passkey', 'key');
  const passkey = {
    ...{
      passkey_id: enrolment_id,
      credential_digest: digest,
      credential: sealed,
      counter: 0,
      transports: [],
    },
    ...{ synced: true, backed_up: true, aaguid: '00000000-0000-0000-0000-000000000000', name: sealed },
  };
  const register = { type: 'RegisterPasskey', passkey, session, recoveryCodes: [digest] } as const;
  await run(register, commands.enrol, commands.confirm, commands.removeTotp);
  await settled(start());
  const notice = smtp.mails.find(({ email: { subject } }) => subject?.endsWith('switched off') === true);
  t.regex(notice?.email.text ?? '', /recovery codes stay valid/);
  t.notRegex(notice?.email.text ?? '', /void/);
});

test('A notice about a change before the change of address goes to the earlier address, also when it is late', async (t) => {
  const { commands, run, start, settled, smtp } = await given(t);
  const { changePassword, requestAddress, changeAddress } = commands;
  await run(changePassword, requestAddress, changeAddress, changePassword);
  await settled(start());
  const told = smtp.mails.map((mail) => `${mail.to.join()}: ${mail.email.subject ?? ''}`).sort();
  t.deepEqual(told, [
    `${email}: The address of your account was changed`,
    `${email}: Your password was changed`,
    `${newEmail}: Your password was changed`,
  ]);
});

test('The owner gets one mail a day about wrong passwords and codes that reach their limit', async (t) => {
  const scene = await given(t);
  const now = new Date();
  const guessed = { type: 'RecordGuessing', now } as const;
  const runner = scene.start();
  await scene.run(
    { ...guessed, secret: 'password' },
    { ...guessed, secret: 'mailed_code' },
    { ...guessed, secret: 'password', now: new Date(now.getTime() + dayMs - 60_000) },
  );
  await scene.settled(runner);
  t.is(scene.smtp.mails.length, 1);
  const told: Told = ['Someone is guessing at your account', email, 'GuessingLimitReached'];
  await checkNotice(t, scene, scene.smtp.mails, told);
  await scene.run({ ...guessed, secret: 'password', now: new Date(now.getTime() + dayMs + 60_000) });
  await scene.settled(runner);
  t.is(scene.smtp.mails.length, 2);
  // A clock that was ahead and is set back hides no later one.
  await scene.run({ ...guessed, secret: 'password', now: new Date(now.getTime() - 30 * dayMs) });
  await scene.settled(runner);
  t.is(scene.smtp.mails.length, 3);
});

test('The first proof of an address by a sign-in leads to one notice that says all that it ended', async (t) => {
  const { commands, run, start, settled, smtp, happened, outcomes } = await given(t);
  await run(commands.enrol, commands.confirm, commands.proveAddress);
  await settled(start());
  t.deepEqual(subjects(smtp.mails), [
    'Two-factor authentication was switched on',
    'What others may have set up in your account is void',
  ]);
  const notice = smtp.mails.find(({ email: { subject } }) => subject?.startsWith('What others') === true);
  const text = notice?.email.text ?? '';
  for (const ended of [
    'password',
    'sessions',
    'second factor',
    'passkeys',
    'API keys',
    'invitations',
    'members',
  ]) {
    t.true(text.includes(ended), ended);
  }
  const [voided] = await happened('CredentialsVoided');
  t.is((await outcomes(voided?.id)).length, 1);
});

test('A notice whose outcome a crash lost is sent again as the same mail and recorded once', async (t) => {
  // Given a process that sends a mail and cannot record it
  let isBroken = true;
  const wrap = (handler: CommandHandler): CommandHandler => ({
    ...handler,
    handle: async (...args) => {
      if (isBroken) throw new StoreUnavailable('the store is away');
      return handler.handle(...args);
    },
  });
  const { commands, run, start, settled, smtp, happened, outcomes } = await given(t, { wrap });
  await run(commands.changePassword);
  const first = start();
  await smtp.received(1);
  await first.stop();
  const [changed] = await happened('PasswordChanged');
  t.deepEqual(await outcomes(changed?.id), []);
  // When another process continues after the end of the first claim
  isBroken = false;
  await settled(start(10 * 60_000));
  // Then it sends the same mail
  t.is(smtp.mails.length, 2);
  const [one, two] = smtp.mails;
  t.is(two?.email.messageId, one?.email.messageId);
  t.is(two?.email.text, one?.email.text);
  t.is((await outcomes(changed?.id)).length, 1);
  // and a third process sends nothing
  await settled(start(20 * 60_000));
  t.is(smtp.mails.length, 2);
});

test('An erased user gets no notice at any moment of the erasure', async (t) => {
  for (const keyIsDestroyed of [false, true]) {
    const { commands, run, start, settled, smtp, stores, userId } = await given(t);
    await run(commands.changePassword, commands.requestAddress, commands.changeAddress);
    if (keyIsDestroyed) await stores.sealer.destroy({ kind: 'person', userId });
    else await run(commands.erase);
    await settled(start());
    t.is(smtp.connections(), 0);
  }
});

test('A notice older than a day is not sent by a service that gets a mail server later', async (t) => {
  const { commands, run, start, settled, smtp } = await given(t);
  await run(commands.changePassword);
  await settled(start(dayMs));
  t.is(smtp.connections(), 0);
  await settled(start(dayMs - 60_000));
  t.is(smtp.mails.length, 1);
});

test('A user gets at most three notices of one kind, and those of other kinds as well', async (t) => {
  const { commands, run, start, settled, smtp } = await given(t);
  const { changePassword, enrol, confirm } = commands;
  await run(changePassword, changePassword, changePassword, changePassword, changePassword, enrol, confirm);
  await settled(start());
  t.deepEqual(subjects(smtp.mails), [
    'Two-factor authentication was switched on',
    ...Array<string>(3).fill('Your password was changed'),
  ]);
});

test('The notice about another address has the code that undoes the change, and is mailed for 72 hours', async (t) => {
  const { commands, run, start, settled, smtp, happened } = await given(t);
  await run(commands.requestAddress, commands.changeAddress);
  await settled(start(72 * 3_600_000));
  t.is(smtp.connections(), 0);
  await settled(start(72 * 3_600_000 - 60_000));
  const [changed] = await happened('EmailChanged');
  const { change_id: issue_id, previous_email_digest: email_digest } = changed?.data as Record<
    string,
    string
  >;
  const code = addressRevertCodes.codeFor({
    ...{ kid: 'c1', issue_id: issue_id ?? '', email_digest: email_digest ?? '' },
  });
  const [mail] = smtp.mails;
  t.deepEqual(mail?.to, [email]);
  for (const text of [mail?.email.text ?? '', String(mail?.email.html)]) {
    t.true(text.includes(code));
    t.notRegex(text, /[0-9]{6}/);
  }
});

test('After a revert, a late notice about the change has no code, and the address that was left gets a notice', async (t) => {
  const { commands, run, start, settled, smtp } = await given(t);
  await run(commands.requestAddress, commands.changeAddress, commands.revert);
  await settled(start());
  const mails = [...smtp.mails].sort((a, b) => (a.to[0] ?? '').localeCompare(b.to[0] ?? ''));
  t.deepEqual(
    mails.map((mail) => `${mail.to.join()}: ${mail.email.subject ?? ''}`),
    [
      `${email}: The address of your account was changed`,
      // The address had not been proved before the revert.
      `${email}: What others may have set up in your account is void`,
      `${newEmail}: A change of address was undone`,
    ],
  );
  t.notRegex(mails[0]?.email.text ?? '', /([0-9A-Z]{5}-){3}/);
});
