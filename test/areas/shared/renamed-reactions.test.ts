import test from 'ava';
import { mailSecurityNotices } from '../../../src/areas/accounts/commands/security-notices.js';
import { emailAggregate } from '../../../src/areas/accounts/domain/email/email.js';
import { userAggregate } from '../../../src/areas/accounts/domain/user/user.js';
import { type AnyReaction, contextFor, eventFor } from '../../../src/event-sourcing/effects/reaction.js';
import { derivedId } from '../../../src/event-sourcing/deciding/command-handler.js';
import { makeKeyring } from '../../../src/keys/rings/keyring.js';
import { makeMailedCodes } from '../../../src/keys/codes/login-codes.js';
import { releaseLeftAddresses } from '../../../src/areas/accounts/commands/email/email-change.js';
import { sealedExample } from '../../support/examples/sealed.js';
import { givenCommands } from '../../support/given/given-commands.js';
import { givenContext, givenStores, type GivenStores } from '../../support/given/given-stores.js';
import { givenMail } from '../../support/simulation/reactions/mail-scene.js';

// A reaction with more types has another name, and so it reads the log of the former one again.

const hourMs = 3_600_000;
const { addressRevertCodes } = makeMailedCodes(makeKeyring([{ kid: 'c1', key: Buffer.alloc(32, 7) }]));

/** Returns the reaction of the release before: another name, and the types that it had. */
function asBefore(reaction: AnyReaction, name: string, types: readonly string[]): AnyReaction {
  return { ...reaction, name, types };
}

test('The renamed reaction repeats no notice, and mails those of types that the former release passed within their time', async (t) => {
  // Given notices that a process of the former release has mailed, and one that it does not know
  let release: 'former' | 'present' = 'former';
  const { stores, smtp, registerUser, start, settled } = await givenMail(t, (deps, all) => {
    const reaction = mailSecurityNotices({ ...deps, ...all, addressRevertCodes });
    const known = ['PasswordChanged', 'EmailChanged', 'CredentialsVoided'];
    return [release === 'former' ? asBefore(reaction, 'mail-security-notices', known) : reaction];
  });
  const userId = await registerUser(1, 'ada@example.org', 'Ada');
  const seal = (field: string, text: string) => stores.sealer.seal({ kind: 'person', userId }, field, text);
  const now = new Date();
  const email_digest = stores.digests.email('lovelace@example.net');
  const change_id = derivedId(givenContext(7, now), 'change');
  const change = { change_id, email_digest, code_key_id: 'c1', now };
  const email = await seal('email', 'lovelace@example.net');
  const session = { id: userId, epoch: Infinity };
  const commands = [
    { type: 'ProveEmail', email_digest: stores.digests.email('ada@example.org') },
    {
      type: 'ChangePassword',
      ...{ password_hash: await seal('password_hash', 'x'), checkedAgainst: null, session },
    },
    {
      type: 'RequestEmailChange',
      ...change,
      email,
      expires_at: new Date(now.getTime() + hourMs).toISOString(),
    },
    { type: 'CompleteEmailChange', ...change },
    { type: 'RecordGuessing', secret: 'password', now },
  ] as const;
  for (const [n, command] of commands.entries()) {
    const target = { aggregate: userAggregate, id: userId };
    await stores.handler.handle(target, command, givenContext(100 + n, now));
  }
  await settled(start());
  const mailed = smtp.mails.length;
  t.is(mailed, 3);
  // When the present release starts, also after the time of all notices
  release = 'present';
  await settled(start(73 * hourMs));
  t.is(smtp.mails.length, mailed);
  await settled(start());
  // Then it mails only the notice that the former release passed
  const ids = smtp.mails.map(({ email: { messageId } }) => messageId);
  t.is(new Set(ids).size, ids.length, 'no mail is repeated');
  t.is(smtp.mails.length, mailed + 1);
  t.regex(smtp.mails.at(-1)?.email.text ?? '', /wrong passwords/i);
  await settled(start());
  t.is(smtp.mails.length, mailed + 1);
});

/** Runs the reaction over the whole log. */
async function runAll({ eventStore }: GivenStores, reaction: AnyReaction): Promise<void> {
  for (const stored of (await eventStore.readAll({ after: null, limit: 500 })).events) {
    const event = eventFor(reaction, stored);
    if (event === null || (await reaction.asks(event)) !== 'yes') continue;
    await reaction.conclude(event, contextFor(reaction, event), undefined);
  }
}

test('The renamed reaction releases the addresses that reverts have left, and no address that a user has or may put back', async (t) => {
  const stores = await givenStores();
  const { handler, clock, digests, eventStore } = stores;
  const world = givenCommands(stores);
  let asked = 0;
  const next = () => givenContext((asked += 1), clock.now());
  const register = async (name: string): Promise<string> => {
    const client = { client: null, userAgent: null };
    const account = { email: `${name}@example.com`, password: 'Correct-Horse-7', ...client };
    return (await world.register(account, next())).user.id;
  };
  const user = (id: string) => ({ aggregate: userAggregate, id });
  const move = async (userId: string, name: string): Promise<string> => {
    const context = next();
    const change_id = derivedId(context, 'change');
    const email_digest = digests.email(`${name}@example.com`);
    const change = { change_id, email_digest, code_key_id: 'c1', now: context.time };
    const expires_at = new Date(context.time.getTime() + hourMs).toISOString();
    const request = {
      type: 'RequestEmailChange',
      email: sealedExample(name),
      ...change,
      expires_at,
    } as const;
    await handler.handle(user(userId), request, context);
    await world.reservations.reserve(email_digest, { userId, change_id }, next());
    await handler.handle(user(userId), { type: 'CompleteEmailChange', ...change }, next());
    return change_id;
  };
  const holderOf = async (name: string): Promise<string | null> => {
    const { state } = await handler.load(emailAggregate, digests.email(`${name}@example.com`));
    return state.status === 'reserved' ? state.user_id : null;
  };
  const reaction = releaseLeftAddresses({ ...world, clock });
  const runFormer = () => runAll(stores, asBefore(reaction, 'release-former-address', ['EmailChanged']));
  // Given a user who left an address for good, which another user has now
  const gone = await register('gone');
  await move(gone, 'gone-2');
  // and a user who went away and came back
  const back = await register('back');
  await move(back, 'back-2');
  clock.advance(2 * hourMs);
  await move(back, 'back');
  clock.advance(73 * hourMs);
  await runFormer();
  const heir = await register('gone');
  // and a user who can still put the former address back
  const recent = await register('recent');
  await move(recent, 'recent-2');
  // and a revert, which the former release did not follow
  const victim = await register('victim');
  const change_id = await move(victim, 'thief');
  await handler.handle(
    user(victim),
    { type: 'RevertEmailChange', change_id, byCode: true, now: clock.now() },
    next(),
  );
  await runFormer();
  const names = ['gone', 'gone-2', 'back', 'back-2', 'recent', 'recent-2', 'victim', 'thief'];
  const holders = async () =>
    Object.fromEntries(await Promise.all(names.map(async (n) => [n, await holderOf(n)] as const)));
  const held = {
    ...{ gone: heir, 'gone-2': gone, back, 'back-2': null },
    ...{ recent, 'recent-2': recent, victim },
  };
  t.deepEqual(await holders(), { ...held, thief: victim });
  // When the renamed reaction reads the log from its start
  await runAll(stores, reaction);
  // Then only the address that the revert left is free
  t.deepEqual(await holders(), { ...held, thief: null });
  const { length } = (await eventStore.readAll({ after: null, limit: 500 })).events;
  await runAll(stores, reaction);
  t.is((await eventStore.readAll({ after: null, limit: 500 })).events.length, length);
  // and the former address of the other user is free when its time is over
  clock.advance(73 * hourMs);
  await runAll(stores, reaction);
  t.deepEqual(await holders(), { ...held, recent: null, thief: null });
});
