import type { ExecutionContext } from 'ava';
import { loginCodeAggregate } from '../../../src/areas/accounts/domain/login-code/login-code.js';
import { type RegisteredUser, userAggregate } from '../../../src/areas/accounts/domain/user/user.js';
import type { LoginCodeIssue } from '../../../src/areas/accounts/domain/login-code/login-code.js';
import { totpCode } from '../fakes/authenticator-app.js';
import { noting } from '../fakes/around-calls.js';
import { makeTestClock } from '../fakes/clock.js';
import { givenCommands } from '../given/given-commands.js';
import { givenContext, givenStores } from '../given/given-stores.js';
import { outcomeOf } from '../given/outcome-of.js';

export const ownerNetwork = '192.0.2.1';

/** A client: its address, and the token of its device; an address alone is a client without one. */
type Guesser = string | { readonly ip: string; readonly token: string | null };
const email = 'ada@example.com';
const password = 'Correct-Horse-7';
const dayMs = 24 * 3_600_000;

/** Returns addresses of different networks: half are /64s of one /48. At most 256 batches; they share no network. */
export function strangers(count: number, batch = 0): string[] {
  return Array.from({ length: count }, (_, index) => {
    const [high, low] = [index >> 8, index & 255];
    if (index % 2 === 1) return `198.${18 + high}.${batch}.${low}`;
    return `2001:db8:${7 + high}:${((batch << 8) | low).toString(16)}::1`;
  });
}

/** Lets Ada register in a service of three processes. Hashes are cheap, and time passes only as the test says. */
export async function givenGuessing(t: ExecutionContext) {
  const moving = makeTestClock();
  const clock = { ...moving, sleep: () => Promise.resolve() };
  const calls: string[] = [];
  const stores = await givenStores({
    clock,
    wrap: (store) => noting(store, 'log', calls),
    wrapState: (store) => noting(store, 'state', calls),
  });
  /** Whether the hashes of this moment are of wrong passwords. */
  let guessing = false;
  const hashedAtMs: number[] = [];
  const onHash = () => {
    if (guessing) hashedAtMs.push(clock.now().getTime());
  };
  const processes = [stores, stores.anotherProcess(), stores.anotherProcess()].map((process) =>
    givenCommands(process, { onHash }),
  );
  const [commands = givenCommands(stores)] = processes;
  const email_digest = stores.digests.email(email);
  let commandsSoFar = 0;
  const next = () => givenContext((commandsSoFar += 1), clock.now());
  const registered = await commands.register(
    { email, password, client: { ip: ownerNetwork, known: null }, userAgent: null },
    next(),
  );
  const { user } = registered;
  /** The device from which the owner registered. */
  const owner = { ip: ownerNetwork, token: registered.deviceToken };
  t.teardown(() => {
    const failed = processes.flatMap(({ failures }) => failures);
    if (failed.length > 0) throw new Error(`work after a reply failed: ${String(failed[0])}`);
  });
  const codesRefusedAtMs: number[] = [];
  let current = password;
  const processFor = (index: number) => processes[index % processes.length] ?? commands;
  /** Returns the client as the routes give it to the commands. */
  const of = async (guesser: Guesser, at = email) => {
    const { ip, token } = typeof guesser === 'string' ? { ip: guesser, token: null } : guesser;
    const known = await commands.knownDevices.ofToken(at, token ?? undefined);
    return { email: at, client: { ip, known }, userAgent: null };
  };
  const issuesNow = async (): Promise<readonly LoginCodeIssue[]> => {
    const { known, unknown, strong } = (await stores.handler.load(loginCodeAggregate, email_digest)).state;
    return [known.issue, unknown.issue, ...strong].filter((issue) => issue !== null);
  };
  const codeOf = async ({ code_key_id: kid, issue_id }: LoginCodeIssue) => {
    const { strong } = (await stores.handler.load(loginCodeAggregate, email_digest)).state;
    const isStrong = strong.some((one) => one.issue_id === issue_id);
    const codes = isStrong ? commands.strongLoginCodes : commands.loginCodes;
    return codes.codeFor({ kid, issue_id, email_digest });
  };

  /** Types a wrong password from each client, all at once. */
  async function guessPasswords(guessers: readonly Guesser[], at = email): Promise<string[]> {
    const inputs = await Promise.all(guessers.map((guesser) => of(guesser, at)));
    guessing = true;
    const tried = inputs.map((input, index) =>
      outcomeOf(processFor(index).login({ ...input, password: `Wrong-Horse-${index}` }, next())),
    );
    const outcomes = await Promise.all(tried);
    guessing = false;
    return outcomes;
  }

  /** Asks for a code. Returns it, or null if none was issued. */
  async function requestCode(guesser: Guesser): Promise<string | null> {
    const before = await issuesNow();
    const { client } = await of(guesser);
    await commands.sendEmailCode({ email, known: client.known }, next());
    const issue = (await issuesNow()).find(({ issue_id }) =>
      before.every((one) => one.issue_id !== issue_id),
    );
    return issue === undefined ? null : codeOf(issue);
  }

  async function typeCode(code: string, guesser: Guesser): Promise<string> {
    return outcomeOf(commands.loginByEmailCode({ ...(await of(guesser)), code }, next()));
  }

  /** Types a wrong code of six digits from each client, all at once. */
  async function guessCodes(guessers: readonly Guesser[]): Promise<string[]> {
    const right = await Promise.all((await issuesNow()).map(codeOf));
    const wrong = ['271828', '314159', '141421'].find((code) => !right.includes(code)) ?? '';
    const inputs = await Promise.all(guessers.map((guesser) => of(guesser)));
    const tried = inputs.map((input, index) =>
      outcomeOf(processFor(index).loginByEmailCode({ ...input, code: wrong }, next())),
    );
    const outcomes = await Promise.all(tried);
    const refused = outcomes.filter((one) => one === 'credentials_refused');
    codesRefusedAtMs.push(...refused.map(() => clock.now().getTime()));
    return outcomes;
  }

  /** The newest code in the mailbox that signs in, of 100 bits where there is one; null: none. */
  async function codeInMailbox(): Promise<string | null> {
    const { unknown, strong } = (await stores.handler.load(loginCodeAggregate, email_digest)).state;
    const isOpen = ({ used, expires_at }: LoginCodeIssue) => !used && new Date(expires_at) > clock.now();
    const issue = strong.filter(isOpen).at(-1) ?? unknown.issue;
    return issue === null || !isOpen(issue) ? null : codeOf(issue);
  }

  async function signIn(guesser: Guesser) {
    return commands.login({ ...(await of(guesser)), password: current }, next());
  }

  const settled = async (): Promise<void> => {
    for (const { background } of processes) await background.settled();
  };

  return {
    clock,
    guessPasswords,
    guessCodes,
    requestCode,
    typeCode,
    settled,
    /** What the log and the state store hold. */
    written: async () => {
      const records = await stores.stateStore.list('', { limit: 100 });
      return [await stores.eventStore.head(), records.map(({ key, version }) => [key, version])];
    },
    /** Hashes of wrong passwords. */
    passwordsChecked: () => hashedAtMs.length,
    /** Wrong codes that were compared, and not put off. */
    codesCompared: () => codesRefusedAtMs.length,
    /** The most of them in any 24 hours. */
    mostCodesInADay: () => mostInADay(codesRefusedAtMs),
    /** The most hashes of wrong passwords in any 24 hours. */
    mostPasswordsInADay: () => mostInADay(hashedAtMs),
    owner,
    codeInMailbox,
    signInByPassword: (guesser: Guesser): Promise<string> => outcomeOf(signIn(guesser)),
    signInByCode: async (guesser: Guesser): Promise<string> =>
      typeCode((await requestCode(guesser)) ?? '', guesser),
    /** Signs in by password, and by a code of the authenticator where one is on. Returns the client with its token. */
    signInFrom: async (ip: string, secret: string | null = null) => {
      const { tokens, deviceToken } = await signIn(ip);
      if (secret === null) return { ip, token: deviceToken };
      if (deviceToken !== null) throw new Error('the sign-in is not complete');
      const sessionId = commands.refreshTokens.verify(tokens.refresh_token)?.sessionId ?? '';
      clock.advance(60_000);
      const factor = { code: totpCode(secret, clock.now()) };
      const passed = await commands.passSecondFactor(
        { userId: user.id, sessionId, client: { ip, known: null }, factor },
        next(),
      );
      return { ip, token: passed.deviceToken };
    },
    /** Changes the password in the session of the registration, from an address. */
    changePassword: async (clientIp: string): Promise<string> => {
      const sessionId = commands.refreshTokens.verify(registered.tokens.refresh_token)?.sessionId ?? '';
      const { epoch } = (await stores.handler.load(userAggregate, user.id)).state as RegisteredUser;
      const known = await commands.knownDevices.ofSession({ userId: user.id, sessionId, epoch });
      const session = { id: sessionId, epoch, emailCodeAt: null };
      const asked = { userId: user.id, session, client: { ip: clientIp, known }, currentPassword: current };
      const newPassword = 'Another-Horse-8';
      return outcomeOf(
        commands.changePassword({ ...asked, newPassword }, next()).then(() => (current = newPassword)),
      );
    },
    signOutEverywhere: async (): Promise<void> => {
      const sessionId = commands.refreshTokens.verify(registered.tokens.refresh_token)?.sessionId ?? '';
      await commands.logout({ userId: user.id, sessionId, all: true }, next());
    },
    ban: () => commands.banUser(email, next()),
    turnOnSecondFactor: async (): Promise<string> => {
      const { secret } = await commands.enrolTotp({ userId: user.id }, next());
      const code = totpCode(secret, clock.now());
      const { tokens } = await signIn(owner);
      const sessionId = commands.refreshTokens.verify(tokens.refresh_token)?.sessionId ?? '';
      await commands.confirmTotp(
        {
          userId: user.id,
          session: { id: sessionId, epoch: Infinity },
          client: { ip: ownerNetwork, known: null },
          code,
        },
        next(),
      );
      return secret;
    },
    /** The operator vouches for the address, so that its first code voids nothing. */
    verifyAddress: () => commands.verifyEmail({ email }, next()),
    isKnown: async (token: string | null): Promise<boolean> =>
      (await of({ ip: '', token })).client.known !== null,
    /** The events that tell the owner. */
    limitsReached: async () =>
      (await stores.eventStore.read(`user-${user.id}`)).filter(({ type }) => type === 'GuessingLimitReached'),
    /** The user as the log has it. */
    user: async () => (await stores.handler.load(userAggregate, user.id)).state,
    /** Guesses at an address until the limits are reached. Returns each outcome with the store calls before it. */
    observe: async (address: string) => {
      const observed: { outcome: string | undefined; calls: string[] }[] = [];
      const note = async (work: () => Promise<string[]>): Promise<void> => {
        calls.length = 0;
        const [outcome] = await work();
        observed.push({ outcome, calls: [...calls] });
        await settled();
      };
      for (const stranger of strangers(62, 99)) {
        await note(() => guessPasswords([stranger], address));
        await note(async () => [await sendTo(address, stranger)]);
      }
      return observed;
    },
  };

  async function sendTo(address: string, guesser: Guesser): Promise<string> {
    const { client } = await of(guesser, address);
    return outcomeOf(commands.sendEmailCode({ email: address, known: client.known }, next()));
  }
}

function mostInADay(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + dayMs).length));
}
