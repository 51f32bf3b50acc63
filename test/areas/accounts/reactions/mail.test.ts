import test, { type ExecutionContext } from 'ava';
import { loginCodeAggregate } from '../../../../src/areas/accounts/domain/login-code/login-code.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { derivedId } from '../../../../src/event-sourcing/deciding/command-handler.js';
import { makeKeyring } from '../../../../src/keys/rings/keyring.js';
import { makeMailedCodes } from '../../../../src/keys/codes/login-codes.js';
import type { MailDeps } from '../../../../src/areas/shared/mail-reaction.js';
import { mailAddressChanges } from '../../../../src/areas/accounts/commands/email/email-change.js';
import { mailInvitations } from '../../../../src/areas/projects/commands/invitations.js';
import { mailMemberNotices } from '../../../../src/areas/projects/commands/member-messages.js';
import { mailLoginCodes } from '../../../../src/areas/accounts/commands/signing-in/login-codes.js';
import { makeUserReader } from '../../../../projections/accounts/users/reader.js';
import { realClock } from '../../../support/fakes/clock.js';
import { type GivenStores, givenContext } from '../../../support/given/given-stores.js';
import type { SmtpServerOptions } from '../../../support/servers/smtp-server.js';
import { givenMail, type MailScene } from '../../../support/simulation/reactions/mail-scene.js';

const codeKeys = makeKeyring([{ kid: 'c1', key: Buffer.alloc(32, 7) }]);
const codes = makeMailedCodes(codeKeys);
const { loginCodes, addressChangeCodes } = codes;

interface Scene extends MailScene {
  /** @returns the digest that names the stream, and the id of the event */
  readonly issueCode: (n: number, options?: { expiresInMs?: number; at?: Date }) => Promise<Issued>;
}

interface Issued {
  readonly digest: string;
  readonly issue_id: string;
  readonly userId: string;
}

function makeReactions(mailDeps: MailDeps, { handler, sealer, views }: GivenStores) {
  const users = makeUserReader({ views, sealer, usedBytes: () => Promise.resolve(0) });
  const deps = { ...mailDeps, handler, sealer, users, ...codes, clock: realClock };
  return [mailLoginCodes(deps), mailAddressChanges(deps), mailInvitations(deps), mailMemberNotices(deps)];
}

async function given(t: ExecutionContext, options: SmtpServerOptions = {}): Promise<Scene> {
  const scene = await givenMail(t, makeReactions, options);
  const { handler, sealer, digests } = scene.stores;
  return {
    ...scene,
    issueCode: async (n, { expiresInMs = 600_000, at = new Date() } = {}) => {
      const context = givenContext(n, at);
      const address = `ada${n % 100}@example.org`;
      const userId = derivedId(givenContext(n % 100, new Date(0)), 'user');
      const issue_id = derivedId(context, 'login code');
      const digest = digests.email(address);
      await handler.handle(
        { aggregate: loginCodeAggregate, id: digest },
        {
          type: 'Issue',
          requester: 'known',
          issue_id,
          user_id: userId,
          email: await sealer.seal({ kind: 'person', userId }, 'email', address),
          code_key_id: loginCodes.active(),
          expires_at: new Date(at.getTime() + expiresInMs).toISOString(),
          now: at,
        },
        context,
      );
      return { digest, issue_id, userId };
    },
  };
}

test('An issued code is mailed once, and the mail names its event', async (t) => {
  const { start, settled, issueCode, smtp, events } = await given(t);
  const { digest, issue_id } = await issueCode(1);
  await settled(start());
  const [mail] = smtp.mails;
  t.is(smtp.mails.length, 1);
  t.deepEqual(mail?.to, ['ada1@example.org']);
  t.is(
    mail?.email.text?.match(/\b[0-9]{6}\b/)?.[0],
    loginCodes.codeFor({ kid: 'c1', issue_id, email_digest: digest }),
  );
  const [issued, mailed] = await events(`logincode-${digest}`);
  t.is(mail?.email.messageId, `<${issued?.id ?? ''}@stowage.example>`);
  t.like(mailed, { type: 'LoginCodeMailed', data: { issue_id, outcome: 'accepted' } });
  t.like(mailed?.metadata, { actor: 'system:mail-login-codes', causation_id: issued?.id ?? '' });
});

test('No mail is repeated after a lost checkpoint or in another process', async (t) => {
  const { start, settled, issueCode, smtp } = await given(t);
  await issueCode(1);
  await issueCode(2);
  await settled(start());
  await settled(start());
  t.is(smtp.mails.length, 2);
});

test('A mail with a permanent refusal is recorded as refused and not sent again', async (t) => {
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

test('A deferred mail is sent again and does not delay other mails', async (t) => {
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

test('A code that is expired, used, out of attempts, replaced or of an erased user is not mailed', async (t) => {
  const { start, settled, issueCode, smtp, stores } = await given(t);
  const { handler, sealer } = stores;
  const now = new Date();
  const use = async ({ digest, issue_id }: Issued, n: number, matches: boolean): Promise<void> => {
    const target = { aggregate: loginCodeAggregate, id: digest };
    const compared = [{ issue_id, matches }];
    const command = { type: 'Use', requester: 'known', compared, now } as const;
    await handler.handle(target, command, givenContext(n, now));
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

test('A change of address is confirmed at the new address with a code that only the mail contains', async (t) => {
  const { start, settled, registerUser, smtp, stores, events } = await given(t);
  const { handler, sealer, digests } = stores;
  const userId = await registerUser(1, 'ada@example.org', 'Ada');
  const context = givenContext(2, new Date());
  const change_id = derivedId(context, 'email change');
  const email_digest = digests.email('lovelace@example.org');
  const target = { aggregate: userAggregate, id: userId };
  const request = {
    type: 'RequestEmailChange',
    change_id,
    email: await sealer.seal({ kind: 'person', userId }, 'email', 'lovelace@example.org'),
    email_digest,
    code_key_id: addressChangeCodes.active(),
    expires_at: new Date(Date.now() + 600_000).toISOString(),
    now: new Date(),
  } as const;
  await handler.handle(target, request, context);
  await settled(start());
  const [mail] = smtp.mails;
  t.deepEqual(mail?.to, ['lovelace@example.org']);
  const code = addressChangeCodes.codeFor({ kid: 'c1', issue_id: change_id, email_digest });
  t.is(mail?.email.text?.match(/\b[0-9]{6}\b/)?.[0], code);
  t.like((await events(`user-${userId}`)).at(-1), {
    type: 'EmailChangeMailed',
    data: { change_id, outcome: 'accepted' },
  });
  // An erased user and a replaced change lead to no further mail.
  const next = givenContext(3, new Date());
  const later = { change_id: derivedId(next, 'email change'), now: new Date(Date.now() + 60_000) };
  await handler.handle(target, { ...request, ...later }, next);
  await handler.handle(target, { type: 'Erase' }, givenContext(4, new Date()));
  await settled(start());
  t.is(smtp.mails.length, 1);
});

test('An invitation names project, role and inviter, and a withdrawn one is not mailed', async (t) => {
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
    const more = { email_digest: digests.email(address), now: context.time };
    await handler.handle(target, { ...command, ...more }, context);
    return invitationId;
  };
  const invitationId = await invite(4, 'eve@example.org');
  const memberId = await invite(5, 'bob@example.org');
  await handler.handle(target, { type: 'RemoveMember', actorId, memberId }, givenContext(6, new Date()));
  await settled(start());
  t.is(smtp.mails.length, 1);
  t.deepEqual(smtp.mails[0]?.to, ['eve@example.org']);
  const { subject, text, html } = smtp.mails[0]?.email ?? {};
  t.is(subject, 'Invitation to a project');
  t.true(text?.includes('Ada <script> invites you to the project "Summer & film" on Stowage, as editor.'));
  t.true(html?.includes('Ada &lt;script&gt; invites you'));
  t.like((await events(`project-${projectId}`)).at(-1), {
    type: 'InvitationMailed',
    data: { invitation_id: invitationId, outcome: 'accepted' },
  });
});

test('A user who joins by an invitation of an owner that was lowered is mailed who gave the role and how to leave', async (t) => {
  const { start, settled, registerUser, smtp, stores } = await given(t);
  const { handler, sealer, digests } = stores;
  const [actorId, userId] = [
    await registerUser(1, 'ada@example.org', 'ada'),
    await registerUser(2, 'bob@example.org', 'bob'),
  ];
  const email_digest = digests.email('bob@example.org');
  const proof = { type: 'VerifyEmail', email_digest } as const;
  await handler.handle({ aggregate: userAggregate, id: userId }, proof, givenContext(3, new Date()));
  const projectId = derivedId(givenContext(2, new Date(0)), 'project');
  const target = { aggregate: projectAggregate, id: projectId };
  const now = new Date();
  await handler.handle(target, { type: 'Create', name: 'Film', ownerId: actorId }, givenContext(4, now));
  const invitationId = derivedId(givenContext(5, now), 'invitation');
  const scope = { kind: 'invitation', projectId, invitationId } as const;
  const email = await sealer.seal(scope, 'email', 'bob@example.org');
  const made = { actorId, invitationId, email, email_digest, now } as const;
  await handler.handle(target, { type: 'InviteMember', role: 'owner', ...made }, givenContext(5, now));
  // When the role is lowered, so that the invitation needs no consent
  const lower = { type: 'ChangeMemberRole', memberId: invitationId, role: 'editor' } as const;
  await handler.handle(
    target,
    { ...lower, actorId, offerId: invitationId, now },
    givenContext(6, new Date(now.getTime() + 1)),
  );
  await handler.handle(target, { type: 'AcceptInvitation', invitationId, userId }, givenContext(7, now));
  await settled(start());
  // Then
  const { subject, text } = smtp.mails.at(-1)?.email ?? {};
  t.is(smtp.mails.length, 1);
  t.is(subject, 'You have a new role in a project');
  t.true(text?.includes('ada gave you the role editor in the project "Film"'));
  t.true(text?.includes(`DELETE /api/v1/projects/${projectId}/members/${userId}`));
});

test('Roles and offers are mailed once to proved addresses, and those that have ended are not mailed', async (t) => {
  // Given members with and without a proved address, one in a new role, one whose offer was withdrawn
  const { start, settled, registerUser, smtp, stores } = await given(t);
  const { handler, digests } = stores;
  let commands = 100;
  const next = () => givenContext((commands += 1), new Date());
  const names = ['ada', 'bob', 'eve', 'joe', 'unproved'] as const;
  const ids = new Map<string, string>();
  for (const [n, name] of names.entries()) {
    const address = `${name}@example.org`;
    const id = await registerUser(n + 1, address, name);
    ids.set(name, id);
    const verify = { type: 'VerifyEmail', email_digest: digests.email(address) } as const;
    if (name !== 'unproved') await handler.handle({ aggregate: userAggregate, id }, verify, next());
  }
  const idOf = (name: string): string => ids.get(name) ?? '';
  const actorId = idOf('ada');
  const target = { aggregate: projectAggregate, id: derivedId(givenContext(2, new Date(0)), 'project') };
  await handler.handle(target, { type: 'Create', name: 'Film', ownerId: actorId }, next());
  const now = new Date();
  for (const name of names.slice(1)) {
    const email_digest = digests.email(`${name}@example.org`);
    const add = {
      type: 'AddMember',
      actorId,
      userId: idOf(name),
      email_digest,
      role: 'viewer',
      now,
    } as const;
    await handler.handle(target, add, next());
  }
  const change = async (name: string, role: 'owner' | 'viewer') => {
    const offerId = derivedId(next(), 'offer');
    const command = { type: 'ChangeMemberRole', actorId, memberId: idOf(name), role, offerId, now } as const;
    await handler.handle(target, command, next());
  };
  await change('bob', 'owner');
  await change('eve', 'owner');
  await change('eve', 'viewer');
  await handler.handle(target, { type: 'RemoveMember', actorId, memberId: idOf('joe') }, next());
  // When the reaction runs twice
  await settled(start());
  await settled(start());
  // Then each user gets a mail about what still holds
  const told = smtp.mails.map(({ to, email }) => `${to.join()}: ${email.subject ?? ''}`);
  t.deepEqual([...told].sort(), [
    'bob@example.org: The ownership of a project is offered to you',
    'bob@example.org: You have a new role in a project',
    'eve@example.org: You have a new role in a project',
  ]);
});
