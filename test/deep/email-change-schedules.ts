import { createHash } from 'node:crypto';
import type { CommandContext } from '../../src/event-sourcing/command-handler.js';
import type { DocumentWriter } from '../../src/event-sourcing/document-writer.js';
import type { StoredEvent } from '../../src/event-sourcing/domain-event.js';
import { CommandRejected, Overloaded, StoreUnavailable } from '../../src/event-sourcing/errors.js';
import { derivedId } from '../../src/event-sourcing/ids.js';
import { makeCommandHandler } from '../../src/event-sourcing/make-command-handler.js';
import { makeAddressReservations } from '../../src/commands/address-reservations.js';
import { makeConfirmEmailChange } from '../../src/commands/confirm-email-change.js';
import { makeFinishEmailChange } from '../../src/commands/finish-email-change.js';
import { makeRegister } from '../../src/commands/register.js';
import { TooManyAttempts } from '../../src/commands/rejections.js';
import { makeRequestEmailChange } from '../../src/commands/request-email-change.js';
import { makeStartSession } from '../../src/commands/start-session.js';
import { userAggregate } from '../../src/domain/user/user.js';
import {
  makeFinishEmailChanges,
  makeReleaseFormerAddresses,
} from '../../src/reactions/finish-email-change.js';
import { eventFor, contextFor, type AnyReaction } from '../../src/event-sourcing/reaction.js';
import { projections } from '../../projections/index.js';
import { makeUserReader } from '../../projections/users/reader.js';
import { makeSeededRandom } from '../support/clock.js';
import { digest as someDigest } from '../support/examples/ids.js';
import { sealedExample } from '../support/examples/sealed.js';
import { type Confirmed, judgeAddresses, judgeRest } from './email-change-history.js';
import {
  chooseWeather,
  calm,
  makeSimulation,
  type Sabotage,
  type ScheduleOptions,
  type SimulatedProcess,
  type Simulation,
  type Weather,
} from './register-simulation.js';

const views = new Map<string, (typeof projections)[number][]>();
for (const view of projections) views.set(view.category, [...(views.get(view.category) ?? []), view]);
const documentWriter: Pick<DocumentWriter, 'viewsOf' | 'write'> = {
  viewsOf: (category) => views.get(category) ?? [],
  write: () => Promise.resolve(),
};
const sealed = sealedExample('sealed');
const sealer = { seal: () => Promise.resolve(sealed), open: () => Promise.resolve('opened') };
const noViews = {
  of: () => ({
    get: () => Promise.resolve(null),
    find: () => Promise.resolve([]),
    findInOrder: () => Promise.resolve([]),
    sum: () => Promise.resolve(0n),
    changeToken: () => null,
  }),
};
const issued = { generation: 1, kid: 'r1', token: 'a refresh token', digest: someDigest };
const access = { token: 'an access token', expiresAt: new Date(0), expiresInSeconds: 600 };
const digests = {
  email: (canonical: string) => createHash('sha256').update(canonical).digest('hex'),
  ip: () => someDigest,
};

/** The users' own, and so few others that they are contested. */
const ownAddresses = ['ada@example.com', 'bob@example.com'];
const freeAddresses = ['eve@example.com', 'joe@example.com'];

/** The use cases as production builds them, over a simulated process; hashing, sealing and mailing cost nothing. */
function makeProcess({ eventStore, clock }: SimulatedProcess, simulation: Simulation, sabotage: Sabotage) {
  const { random } = simulation;
  const handler = sabotage(
    makeCommandHandler({ eventStore, documentWriter, clock, random, cachedStreamsMax: 8 }),
  );
  const reservations = makeAddressReservations({ handler, clock });
  const finishEmailChange = makeFinishEmailChange({ handler, reservations });
  // The code of a change is its id: whoever has read the mail knows it.
  const addressChangeCodes = {
    active: () => 'c1',
    matches: (issue: { readonly issueId: string }, typed: string) => typed === issue.issueId,
  };
  const deps = { handler, reservations, sealer, digests, addressChangeCodes };
  return {
    handler,
    reservations,
    register: makeRegister({
      ...deps,
      passwords: { hash: () => Promise.resolve('a hash') },
      checkPassword: () => null,
      users: makeUserReader({ views: noViews, sealer }),
      startSession: makeStartSession({
        ...deps,
        refreshTokens: { issue: (sessionId) => ({ ...issued, sessionId }) },
        accessTokens: { sign: () => Promise.resolve(access) },
      }),
      defaultCapacityBytes: 1,
    }),
    requestEmailChange: makeRequestEmailChange({ ...deps, mailConfigured: true }),
    confirmEmailChange: makeConfirmEmailChange({ ...deps, finishEmailChange }),
    reactions: [
      makeFinishEmailChanges({ finishEmailChange }),
      makeReleaseFormerAddresses({ reservations }),
    ] as readonly AnyReaction[],
  };
}

type UseCases = ReturnType<typeof makeProcess>;

/** How likely each mishap is where the weather is worst. */
const worst: Weather = { crash: 0.03, refuse: 0.05, loseAcknowledgement: 0.2, delay: 0.05, longPause: 0.08 };

/**
 * Runs one schedule: two users change their addresses while others register, in processes that crash; then the reactions
 * finish what was left. Returns what is wrong with its history, or null.
 * @param seed decides everything
 */
export async function runEmailChangeSchedule(
  seed: number,
  { tally, sabotage = (handler) => handler, traceTo = null }: ScheduleOptions,
): Promise<string | null> {
  const simulation = makeSimulation({ random: makeSeededRandom(seed), tally, traceTo });
  const { random, chance } = simulation;
  const count = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  let commands = 0;
  const confirmed: Confirmed[] = [];

  const userIds: string[] = [];
  for (const email of ownAddresses) {
    const context = contextNow();
    userIds.push(derivedId(context, 'user'));
    startProcess(`registration of ${email}`, (process) => process.register(registrationOf(email), context));
  }
  await simulation.run();

  const weather = chooseWeather(chance, worst);
  simulation.setWeather(weather);
  const clients = 2 + Math.floor(random() * 4);
  for (let index = 0; index < clients; index += 1) startClient(`client ${String(index + 1)}`);
  if (chance(0.5)) startReactor('reactor');
  await simulation.run();
  const during = judgeAddresses(await readLog(simulation), userIds);
  if (during !== null) return during;

  // Once all is quiet the reactions leave nothing open.
  simulation.setWeather(calm);
  for (let round = 0; round < 2; round += 1) {
    startReactor('last reactor');
    await simulation.run();
  }
  const log = await readLog(simulation);
  if (log.some(({ type }) => type === 'EmailReleased')) count('released');
  return judgeAddresses(log, userIds) ?? judgeRest(log, confirmed);

  function startClient(name: string): void {
    const email = pick(chance(0.3) ? ownAddresses : freeAddresses);
    if (chance(0.25)) {
      startTries(name, (process, context) => process.register(registrationOf(email), context));
    } else if (chance(0.05)) {
      const userId = pick(userIds);
      startTries(name, (process, context) => erase(process, userId, context));
    } else {
      const userId = userIds[chance(0.7) ? 0 : 1] ?? '';
      startTries(name, (process, context, clock) => change(process, { userId, email }, context, clock));
    }
  }

  async function change(
    { requestEmailChange, confirmEmailChange }: UseCases,
    { userId, email }: { readonly userId: string; readonly email: string },
    context: CommandContext,
    clock: SimulatedProcess['clock'],
  ): Promise<void> {
    // So that a later change may replace an earlier one.
    if (chance(0.5)) await clock.sleep(61_000);
    const asked = { ...context, time: clock.now() };
    await requestEmailChange({ userId, email }, asked);
    count('change asked for');
    if (chance(0.5)) await clock.sleep(61_000);
    const changeId = derivedId(asked, 'email-change');
    const confirmation = { ...contextNow(), time: clock.now() };
    await confirmEmailChange({ userId, code: changeId }, confirmation);
    count('change confirmed');
    confirmed.push({ userId, emailDigest: digests.email(email) });
  }

  async function erase(process: UseCases, userId: string, context: CommandContext): Promise<void> {
    const target = { aggregate: userAggregate, id: userId };
    await process.handler.handle(target, { type: 'Erase' }, context);
    const { state } = await process.handler.load(userAggregate, userId);
    if (state.status === 'erased') await process.reservations.release(state.emailDigest, userId, context);
    count('erased');
  }

  /** What the reactions' runner does, in the order of the log. */
  function startReactor(name: string): void {
    startProcess(name, async ({ reactions }) => {
      for (const event of await readLog(simulation)) {
        for (const reaction of reactions) {
          const seen = eventFor(reaction, event);
          if (seen === null || (await reaction.asks(seen)) !== 'yes') continue;
          count(`reaction ${reaction.name}`);
          await reaction.conclude(seen, contextFor(reaction, seen), undefined);
        }
      }
    });
  }

  /** After a crash or a failure a client may try the same command again, in another process. */
  function startTries(
    name: string,
    work: (process: UseCases, context: CommandContext, clock: SimulatedProcess['clock']) => Promise<unknown>,
  ): void {
    const context = contextNow();
    const startTry = (number: number): void => {
      const again = (): void => {
        if (number < 3 && chance(0.5)) startTry(number + 1);
      };
      startProcess(
        `${name} (try ${String(number)})`,
        (process, { clock }) => work(process, context, clock),
        again,
      );
    };
    startTry(1);
  }

  function startProcess(
    name: string,
    work: (process: UseCases, simulated: SimulatedProcess) => Promise<unknown>,
    again: () => void = () => undefined,
  ): void {
    const main = async (simulated: SimulatedProcess): Promise<void> => {
      try {
        await work(makeProcess(simulated, simulation, sabotage), simulated);
      } catch (error) {
        if (error instanceof StoreUnavailable || error instanceof Overloaded) again();
        else if (error instanceof CommandRejected) count(`rejected: ${String(error.code)}`);
        else if (error instanceof TooManyAttempts) count('asked too soon');
        else throw error;
      }
    };
    simulation.start(name, main, { skewMs: 0, onCrash: again });
  }

  function contextNow(): CommandContext {
    commands += 1;
    const commandId = `018f0000-0000-7000-8000-${String(commands).padStart(12, '0')}`;
    const time = new Date(simulation.nowMs());
    return { commandId, causationId: commandId, correlationId: commandId, actor: 'anonymous', time };
  }
}

function registrationOf(email: string) {
  return { email, password: 'Correct-Horse-7', clientIp: null, userAgent: null };
}

async function readLog({ store }: Simulation): Promise<readonly (StoredEvent & { position: string })[]> {
  return (await store.readAll({ after: null, limit: 1_000 })).events;
}
