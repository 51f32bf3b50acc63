import type { ExecutionContext } from 'ava';
import { loginCodeAggregate } from '../../../src/areas/accounts/domain/login-code/login-code.js';
import { userAggregate } from '../../../src/areas/accounts/domain/user/user.js';
import { makeKnownNetworks } from '../../../src/security/guessing/known-networks.js';
import { totpCode } from '../fakes/authenticator-app.js';
import { makeTestClock } from '../fakes/clock.js';
import { givenCommands } from '../given/given-commands.js';
import { givenContext, givenStores } from '../given/given-stores.js';
import { outcomeOf } from '../given/outcome-of.js';

export const ownerNetwork = '192.0.2.1';
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
  const emailDigest = stores.digests.email(email);
  let commandsSoFar = 0;
  const next = () => givenContext((commandsSoFar += 1), clock.now());
  const { user } = await commands.register(
    { email, password, clientIp: ownerNetwork, userAgent: null },
    next(),
  );
  t.teardown(() => {
    const failed = processes.flatMap(({ failures }) => failures);
    if (failed.length > 0) throw new Error(`work after a reply failed: ${String(failed[0])}`);
  });
  const codesRefusedAtMs: number[] = [];
  let current = password;
  const processFor = (index: number) => processes[index % processes.length] ?? commands;
  const of = (clientIp: string) => ({ email, clientIp, userAgent: null });
  const networks = makeKnownNetworks({ ...stores, onFailure: () => undefined });
  const issuesNow = async () => {
    const { known, unknown } = (await stores.handler.load(loginCodeAggregate, emailDigest)).state;
    return [known.issue, unknown.issue].filter((issue) => issue !== null);
  };

  /** Types a wrong password from each address, all at once. */
  async function guessPasswords(addresses: readonly string[], at = email): Promise<string[]> {
    guessing = true;
    const tried = addresses.map((address, index) =>
      outcomeOf(
        processFor(index).login({ ...of(address), email: at, password: `Wrong-Horse-${index}` }, next()),
      ),
    );
    const outcomes = await Promise.all(tried);
    guessing = false;
    return outcomes;
  }

  /** Asks for a code. Returns it, or null if none was issued. */
  async function requestCode(clientIp: string): Promise<string | null> {
    const before = await issuesNow();
    await commands.sendEmailCode({ email, clientIp }, next());
    const issue = (await issuesNow()).find(({ issueId }) => before.every((one) => one.issueId !== issueId));
    if (issue === undefined) return null;
    return commands.loginCodes.codeFor({ kid: issue.codeKeyId, issueId: issue.issueId, emailDigest });
  }

  async function typeCode(code: string, clientIp: string): Promise<string> {
    return outcomeOf(commands.loginByEmailCode({ ...of(clientIp), code }, next()));
  }

  /** Types a wrong code from each address, all at once. */
  async function guessCodes(addresses: readonly string[], at = email): Promise<string[]> {
    const right = (await issuesNow()).map(({ codeKeyId: kid, issueId }) =>
      commands.loginCodes.codeFor({ kid, issueId, emailDigest }),
    );
    const wrong = ['271828', '314159', '141421'].find((code) => !right.includes(code)) ?? '';
    const tried = addresses.map((address, index) =>
      outcomeOf(processFor(index).loginByEmailCode({ ...of(address), email: at, code: wrong }, next())),
    );
    const outcomes = await Promise.all(tried);
    const refused = outcomes.filter((one) => one === 'credentials_refused');
    codesRefusedAtMs.push(...refused.map(() => clock.now().getTime()));
    return outcomes;
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
    /** Hashes of wrong passwords. */
    passwordsChecked: () => hashedAtMs.length,
    /** Wrong codes that were compared, and not put off. */
    codesCompared: () => codesRefusedAtMs.length,
    /** The most of them in any 24 hours. */
    mostCodesInADay: () => mostInADay(codesRefusedAtMs),
    /** The most hashes of wrong passwords in any 24 hours. */
    mostPasswordsInADay: () => mostInADay(hashedAtMs),
    /** @param secret of an authenticator that then completes the sign-in */
    signInByPassword: async (clientIp: string, secret: string | null = null): Promise<string> => {
      const login = commands.login({ ...of(clientIp), password: current }, next());
      if (secret === null) return outcomeOf(login);
      const { tokens } = await login;
      const sessionId = commands.refreshTokens.verify(tokens.refresh_token)?.sessionId ?? '';
      clock.advance(60_000);
      const factor = { code: totpCode(secret, clock.now()) };
      return outcomeOf(commands.passSecondFactor({ userId: user.id, sessionId, clientIp, factor }, next()));
    },
    signInByCode: async (clientIp: string): Promise<string> =>
      typeCode((await requestCode(clientIp)) ?? '', clientIp),
    changePassword: (clientIp: string): Promise<string> => {
      const session = { id: next().commandId, epoch: 0, emailCodeAt: null };
      const asked = { userId: user.id, session, clientIp, currentPassword: current };
      const newPassword = 'Another-Horse-8';
      return outcomeOf(
        commands.changePassword({ ...asked, newPassword }, next()).then(() => (current = newPassword)),
      );
    },
    turnOnSecondFactor: async (): Promise<string> => {
      const { secret } = await commands.enrolTotp({ userId: user.id }, next());
      const code = totpCode(secret, clock.now());
      const { tokens } = await commands.login({ ...of(ownerNetwork), password }, next());
      const sessionId = commands.refreshTokens.verify(tokens.refresh_token)?.sessionId ?? '';
      await commands.confirmTotp({ userId: user.id, sessionId, clientIp: ownerNetwork, code }, next());
      return secret;
    },
    /** The operator vouches for the address, so that its first code voids nothing. */
    verifyAddress: () => commands.verifyEmail({ email }, next()),
    isKnown: async (clientIp: string): Promise<boolean> =>
      (await networks.requesterOf({ emailDigest, clientIp })).requester === 'known',
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

  function sendTo(address: string, clientIp: string): Promise<string> {
    return outcomeOf(commands.sendEmailCode({ email: address, clientIp }, next()));
  }
}

function mostInADay(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + dayMs).length));
}

/** Returns the store with a note of each call. */
function noting<Store extends object>(store: Store, name: string, calls: string[]): Store {
  return new Proxy(store, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]): unknown => {
        calls.push(`${name}.${String(key)}`);
        return Reflect.apply(member, target, given);
      };
    },
  });
}
