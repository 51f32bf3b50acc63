import test, { type ExecutionContext } from 'ava';
import {
  purgeUnprovedAccounts,
  warnUnprovedAccounts,
} from '../../../../src/areas/accounts/commands/email/unproved.js';
import { finishErasures } from '../../../../src/areas/accounts/commands/erasing.js';
import { type UserCommand, userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { orderAggregate } from '../../../../src/areas/payments/domain/order/order.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { StoreUnavailable } from '../../../../src/event-sourcing/ports/errors.js';
import { MailRefused } from '../../../../src/mail/mailer.js';
import { digest, otherUserId } from '../../../support/examples/ids.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenMails } from '../../../support/given/given-mails.js';
import { addViewer } from '../../../support/examples/project.js';
import { client, credentials, givenNext } from '../../../support/given/given-account.js';
import { beforeCommands } from '../../../support/given/interrupted-stores.js';
import { logOf, serve, typesOf } from '../../../support/given/log.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';

const dayMs = 86_400_000;
const { password } = credentials;
const idleDays = 30;

type Commands = ReturnType<typeof givenCommands>;

async function given(t: ExecutionContext) {
  const { stores, next, ...commands } = await givenNext();
  const handle = (userId: string, command: UserCommand) =>
    stores.handler.handle({ aggregate: userAggregate, id: userId }, command, next());
  const userOf = async (userId: string) => {
    const { state } = await stores.handler.load(userAggregate, userId);
    return state.status === 'registered' ? state : t.fail('the account is gone');
  };
  const warned: string[] = [];
  const { mails, deliver } = givenMails(stores, {
    send: ({ to, text }, _, handOver) => {
      t.regex(text, /POST \/api\/v1\/auth\/email\/verify/);
      warned.push(to.address.split('@')[0] ?? '');
      return to.address.startsWith('unreachable') ? Promise.reject(new MailRefused('550')) : handOver();
    },
  });
  const reactionsOf = (made: Commands) => [
    warnUnprovedAccounts({
      ...{ ...stores, ...made, publicUrl: 'https://stowage.example', unprovedAccountDays: idleDays, mails },
    }),
    purgeUnprovedAccounts({ ...made, unprovedAccountDays: idleDays }),
  ];
  return {
    ...{ stores, commands, next, handle, warned, reactionsOf },
    run: async (made: Commands = commands) => {
      for (const reaction of reactionsOf(made)) {
        await serve(stores, reaction);
        await deliver();
      }
    },
    signUp: async (name: string) =>
      commands.register({ email: `${name}@example.com`, password, ...client }, next()),
    /** Records that the mail server took the code that proves the address, or refused it. */
    mailed: async (userId: string, outcome: 'accepted' | 'refused' = 'accepted') => {
      const verification_id = (await userOf(userId)).verification?.verification_id ?? '';
      await handle(userId, { type: 'MarkEmailVerificationMailed', verification_id, outcome });
    },
    statusOf: async (userId: string) => (await stores.handler.load(userAggregate, userId)).state.status,
  };
}

type Scene = Awaited<ReturnType<typeof given>>;

interface Kind {
  /** The day of the erasure; null: the account stays. What kept it ends seven days and a warning before. */
  readonly ends: number | null;
  /** What happens on days; without an entry for day 0, the mail with the code is accepted then. */
  readonly on?: Readonly<Record<number, (scene: Scene, account: Account) => Promise<unknown>>>;
}

type Account = Awaited<ReturnType<Scene['signUp']>> & { readonly name: string };

const order = { plan_id: 'capacity-100g', provider: 'standard' } as const;
const place = ({ commands, next }: Scene, { user }: Account) =>
  commands.placeOrder({ buyer: { user_id: user.id, guarded: null }, ...order }, next());
const orderOf = async ({ stores }: Scene, { user }: Account) => {
  const log = await logOf(stores);
  const placed = log.find(({ type, data }) => type === 'OrderPlaced' && data['user_id'] === user.id);
  return placed?.stream.slice('order-'.length) ?? '';
};
const project = async ({ commands, next }: Scene, { user }: Account) =>
  (await commands.createProject({ ownerId: user.id, name: 'Film' }, next())).resource.id;
const mail = (scene: Scene, { user }: Account) => scene.mailed(user.id);

/** By the name of the account. Each is registered on day 0, with a session. */
const kinds: Readonly<Record<string, Kind>> = {
  idle: { ends: 30 },
  proved: {
    ends: null,
    on: {
      0: async (scene, account) => {
        await mail(scene, account);
        const email_digest = scene.stores.digests.email('proved@example.com');
        await scene.handle(account.user.id, { type: 'VerifyEmail', email_digest });
      },
    },
  },
  'never mailed': { ends: null, on: { 0: () => Promise.resolve() } },
  'mail refused': { ends: null, on: { 0: (scene, { user }) => scene.mailed(user.id, 'refused') } },
  'mailed later': { ends: 40, on: { 0: () => Promise.resolve(), 10: mail } },
  unreachable: { ends: null },
  paid: { ends: null, on: { 1: place } },
  'canceled order': {
    ends: 42,
    on: {
      1: place,
      35: async (scene, account) => {
        const order_id = await orderOf(scene, account);
        return scene.commands.cancelOrder({ user_id: account.user.id, order_id }, scene.next());
      },
    },
  },
  'expired order': {
    ends: 42,
    on: {
      1: place,
      35: async (scene, account) => {
        const target = { aggregate: orderAggregate, id: await orderOf(scene, account) };
        const expire = { type: 'Expire', now: scene.stores.clock.now() } as const;
        return scene.stores.handler.handle(target, expire, scene.next());
      },
    },
  },
  'order of a project': {
    ends: null,
    on: {
      1: async (scene, account) => {
        const project_id = await project(scene, account);
        const buyer = { user_id: account.user.id, guarded: null };
        await scene.commands.placeOrder(
          { buyer, plan_id: 'project-s3', provider: 'standard', project_id },
          scene.next(),
        );
      },
    },
  },
  'with a project': { ends: 30, on: { 1: project } },
  'with a member': {
    ends: null,
    on: {
      1: async (scene, account) => {
        const target = { aggregate: projectAggregate, id: await project(scene, account) };
        const add = { ...addViewer, actorId: account.user.id, now: scene.stores.clock.now() };
        await scene.stores.handler.handle(target, add, scene.next());
      },
    },
  },
  'with an API key': {
    ends: 48,
    on: {
      1: async (scene, account) => {
        const now = scene.stores.clock.now();
        const key = {
          ...{ key_id: otherUserId, name: 'k', digest, prefix: 'stw_1234', last_four: '1234' },
          scopes: ['asset:read'],
          expires_at: new Date(now.getTime() + 39.5 * dayMs).toISOString(),
        } as const;
        const issue = { type: 'IssueApiKey', actorId: account.user.id, key, now } as const;
        const target = { aggregate: projectAggregate, id: await project(scene, account) };
        await scene.stores.handler.handle(target, issue, scene.next());
      },
    },
  },
  refreshed: {
    ends: 43,
    on: {
      13: ({ commands, next }, { tokens }) =>
        commands.refresh({ refreshToken: tokens.refresh_token }, next()),
    },
  },
  'signed in and out': {
    ends: 50,
    on: {
      20: async ({ commands, next }, { name, user }) => {
        const signedIn = await commands.login({ email: `${name}@example.com`, password, ...client }, next());
        const sessionId = commands.refreshTokens.verify(signedIn.tokens.refresh_token)?.sessionId ?? '';
        await commands.logout({ userId: user.id, sessionId, all: true }, next());
      },
    },
  },
  banned: { ends: null, on: { 5: ({ handle }, { user }) => handle(user.id, { type: 'Ban' }) } },
  'sent codes by a stranger': {
    ends: 30,
    on: Object.fromEntries(
      [5, 15, 25].map((day) => [
        day,
        ({ commands, next }: Scene, { name }: Account) =>
          commands.sendEmailCode({ email: `${name}@example.com`, known: null }, next()),
      ]),
    ),
  },
};

const addressOf = (name: string) => name.replaceAll(' ', '-');

async function erasedOf(scene: Scene, accounts: ReadonlyMap<string, Account>): Promise<readonly string[]> {
  const all = await Promise.all(
    [...accounts].map(async ([name, { user }]) => [name, await scene.statusOf(user.id)] as const),
  );
  return all.filter(([, status]) => status === 'erased').map(([name]) => name);
}

test('Of 17 kinds of accounts without a proved address exactly the idle ones are erased, each on its day, after a warning', async (t) => {
  const scene = await given(t);
  const start = scene.stores.clock.now().getTime();
  const accounts = new Map<string, Account>();
  for (const [name, { on }] of Object.entries(kinds)) {
    const account = { name: addressOf(name), ...(await scene.signUp(addressOf(name))) };
    accounts.set(name, account);
    if (on?.[0] === undefined) await mail(scene, account);
  }
  const erasedOn = new Map<string, number>();
  for (let day = 0; day <= 60; day += 1) {
    scene.stores.clock.advance(start + day * dayMs - scene.stores.clock.now().getTime());
    for (const [name, account] of accounts) await kinds[name]?.on?.[day]?.(scene, account);
    await scene.commands.background.settled();
    await scene.run();
    for (const name of await erasedOf(scene, accounts)) erasedOn.set(name, erasedOn.get(name) ?? day);
    t.is(scene.warned.includes('idle'), day >= 23, 'the warning is sent seven days before');
  }
  const named = Object.entries(kinds).flatMap(([name, { ends }]) =>
    ends === null ? [] : [[name, ends] as const],
  );
  t.deepEqual(Object.fromEntries(erasedOn), Object.fromEntries(named));
  t.is(new Set(scene.warned).size, scene.warned.length, 'each is warned once');
  // Then the project of an erased account is deleted, and its address is free
  const countOf = async (type: string) =>
    typesOf(await logOf(scene.stores)).filter((one) => one === type).length;
  t.is(await countOf('ProjectDeleted'), 2);
  await t.notThrowsAsync(scene.signUp('idle'));
  // and a repetition changes nothing
  await scene.run(givenCommands(scene.stores.anotherProcess()));
  t.is(await countOf('UserErased'), named.length);
});

test('A proof beats a purge that has judged the account, and a lost record of sessions counts as a session', async (t) => {
  const { stores, signUp, mailed, run, statusOf, handle } = await given(t);
  const { user } = await signUp('late');
  const { user: lost } = await signUp('lost');
  for (const { id } of [user, lost]) await mailed(id);
  stores.clock.advance(23 * dayMs);
  await run();
  const key = `devices/${lost.id}`;
  const record = await stores.stateStore.get(key);
  await stores.stateStore.compareAndSet(key, record?.version ?? null, null);
  stores.clock.advance(7 * dayMs);
  await handle(user.id, { type: 'VerifyEmail', email_digest: stores.digests.email('late@example.com') });
  await handle(user.id, { type: 'EraseUnproved' });
  await run();
  t.is(await statusOf(user.id), 'registered');
  t.is(await statusOf(lost.id), 'registered');
  for (const days of [23, 7]) {
    stores.clock.advance(days * dayMs);
    await run();
  }
  t.is(await statusOf(lost.id), 'erased');
});

test('A session that began while the clock was a year ahead counts from its next refresh at the right time', async (t) => {
  const { stores, commands, next, signUp } = await given(t);
  stores.clock.advance(365 * dayMs);
  const { user, tokens } = await signUp('ahead');
  stores.clock.advance(-365 * dayMs);
  await commands.refresh({ refreshToken: tokens.refresh_token }, next());
  t.deepEqual(await commands.knownDevices.lastSessionAt(user.id), stores.clock.now());
});

test('An account whose session follows the warning is warned again, seven days before its erasure', async (t) => {
  const { stores, signUp, mailed, run, statusOf, commands, next, warned } = await given(t);
  const { user } = await signUp('idle');
  await mailed(user.id);
  const warnedOn: number[] = [];
  let erasedOn: number | null = null;
  for (let day = 0; day <= 60; day += 1) {
    if (day === 25) await commands.login({ email: 'idle@example.com', password, ...client }, next());
    await commands.background.settled();
    await run();
    while (warnedOn.length < warned.length) warnedOn.push(day);
    if ((await statusOf(user.id)) === 'erased') erasedOn ??= day;
    stores.clock.advance(dayMs);
  }
  t.deepEqual({ warnedOn, erasedOn }, { warnedOn: [23, 48], erasedOn: 55 });
});

test('A purge whose process crashes after its first event is finished by the reaction of erasures', async (t) => {
  const { stores, signUp, mailed, run, statusOf, next } = await given(t);
  const { user } = await signUp('idle');
  await mailed(user.id);
  stores.clock.advance(23 * dayMs);
  await run();
  stores.clock.advance(7 * dayMs);
  const end = () => Promise.reject(new StoreUnavailable('the process has ended'));
  const dying = givenCommands(
    beforeCommands(stores, (category) => (category === 'user' ? undefined : end())),
  );
  t.is(await outcomeOf(dying.purgeUnproved.purge(user.id, idleDays, next())), 'StoreUnavailable');
  t.is(await statusOf(user.id), 'erased');
  const commands = givenCommands(stores.anotherProcess());
  await serve(stores, finishErasures({ ...commands, viewsShow: () => true }));
  t.not((await signUp('idle')).user.id, user.id);
});
