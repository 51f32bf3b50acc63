import { createHash } from 'node:crypto';
import type { CommandContext } from '../../src/event-sourcing/ports/command-context.js';
import { CommandRejected, StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { Overloaded } from '../../src/kit/semaphore.js';
import { derivedId } from '../../src/event-sourcing/deciding/command-handler.js';
import { makeEmailReverts } from '../../src/areas/accounts/commands/email/email-revert.js';
import { TooManyAttempts } from '../../src/areas/shared/rejections.js';
import { nilId } from '../../src/validation/fields.js';
import { revertibleMs } from '../../src/areas/accounts/domain/user/former-addresses.js';
import { userAggregate } from '../../src/areas/accounts/domain/user/user.js';
import {
  finishEmailChanges,
  makeEmailChangeCommands,
  releaseLeftAddresses,
} from '../../src/areas/accounts/commands/email/email-change.js';
import { eventFor, contextFor, type AnyReaction } from '../../src/event-sourcing/effects/reaction.js';
import { makeUserReader } from '../../projections/accounts/users/reader.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { digest as someDigest } from '../support/examples/ids.js';
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
import { makeProcessDeps, registeringOf, sealer } from './register-schedules.js';
import { partial } from '../support/fakes/partial.js';
import type { Views } from '../../src/event-sourcing/views/views.js';
import type { Digests } from '../../src/keys/sealing/digests.js';
import type { MailedCodes } from '../../src/keys/codes/login-codes.js';

const noViews = partial<Views>({
  of: () => partial({ get: () => Promise.resolve(null), ids: () => Promise.resolve([]) }),
  totalsOf: () => partial({ getMany: () => Promise.resolve(new Map()) }),
});
const digests = partial<Digests>({
  email: (canonical) => createHash('sha256').update(canonical).digest('hex'),
  ip: () => someDigest,
});

const users = makeUserReader({ views: noViews, sealer, usedBytes: () => Promise.resolve(0) });

/** Returns the six digits that are mailed for a change. */
function codeOf(change_id: string): string {
  // The first digits of an id are its time, which changes of one minute share.
  return String(Number.parseInt(change_id.slice(-8), 16) % 1_000_000).padStart(6, '0');
}

/** The addresses of the users, and so few others that the users compete for them. */
const ownAddresses = ['ada@example.com', 'bob@example.com'];
const freeAddresses = ['eve@example.com', 'joe@example.com'];

/** Makes the use cases of production over a simulated process. Hashing, sealing and mailing cost nothing. */
function makeProcess(process: SimulatedProcess, simulation: Simulation, sabotage: Sabotage) {
  const { clock } = process;
  const common = makeProcessDeps(process, simulation, sabotage);
  const { handler, reservations } = common;
  // The codes of a change follow from its id, so a reader of the mail knows them.
  const addressChangeCodes = partial<MailedCodes>({
    active: () => 'c1',
    matches: (issue, typed) => typed === codeOf(issue.issue_id),
  });
  const addressRevertCodes = partial<MailedCodes>({
    active: () => 'c1',
    matches: (issue, typed) => typed === issue.issue_id,
  });
  const deps = {
    ...common,
    digests,
    addressChangeCodes,
    addressRevertCodes,
    endGivenAccess: () => Promise.resolve(),
    verificationIssues: { count: () => Promise.resolve({ allowed: true } as const) },
  };
  const changes = makeEmailChangeCommands({ ...deps, mailConfigured: true });
  return {
    handler,
    reservations,
    ...registeringOf(common, { digests, users }),
    ...changes,
    ...makeEmailReverts(deps),
    reactions: [
      finishEmailChanges(changes),
      releaseLeftAddresses({ reservations, clock }),
    ] as readonly AnyReaction[],
  };
}

/** A session that no event has ended. */
const session = { id: nilId, epoch: Infinity };

type UseCases = ReturnType<typeof makeProcess>;

/** The probability of each fault in the worst weather. */
const worst: Weather = { crash: 0.03, refuse: 0.05, loseAcknowledgement: 0.2, delay: 0.05, longPause: 0.08 };

/**
 * Runs one schedule: two users change their addresses while others register, in processes that crash. Then the
 * reactions finish the rest. Returns the problem of the history, or null.
 * @param seed determines the whole schedule
 */
export async function runEmailChangeSchedule(
  seed: number,
  { tally, sabotage = (handler) => handler }: ScheduleOptions,
): Promise<string | null> {
  const simulation = makeSimulation({ random: makeSeededRandom(seed), tally });
  const { random, chance, count, pick, nextContext: contextNow } = simulation;
  const confirmed: Confirmed[] = [];

  const userIds: string[] = [];
  for (const email of ownAddresses) {
    const context = contextNow();
    userIds.push(derivedId(context, 'user'));
    startProcess((process) => process.register(registrationOf(email), context));
  }
  await simulation.run();

  const weather = chooseWeather(chance, worst);
  simulation.setWeather(weather);
  const clients = 2 + Math.floor(random() * 4);
  for (let index = 0; index < clients; index += 1) startClient();
  if (chance(0.5)) startReactor();
  await simulation.run();
  const during = judgeAddresses(await simulation.events(), userIds);
  if (during !== null) return during;

  // In calm weather the reactions leave nothing open.
  simulation.setWeather(calm);
  for (let round = 0; round < 3; round += 1) {
    // No former address can be put back any more.
    if (round > 0) simulation.advance(revertibleMs);
    startReactor();
    await simulation.run();
  }
  const log = await simulation.events();
  if (log.some(({ type }) => type === 'EmailReleased')) count('released');
  if (log.some(({ type }) => type === 'FormerAddressLapsed')) count('lapsed');
  return judgeAddresses(log, userIds) ?? judgeRest(log, confirmed);

  function startClient(): void {
    const email = pick(chance(0.3) ? ownAddresses : freeAddresses);
    if (chance(0.25)) {
      startTries((process, context) => process.register(registrationOf(email), context));
    } else if (chance(0.2)) {
      const userId = pick(userIds);
      startTries((process, _context, clock) => undo(process, userId, clock));
    } else if (chance(0.05)) {
      const userId = pick(userIds);
      startTries((process, context) => erase(process, userId, context));
    } else {
      const userId = userIds[chance(0.7) ? 0 : 1] ?? '';
      startTries((process, context, clock) => change(process, { userId, email }, context, clock));
    }
  }

  async function change(
    { requestEmailChange, confirmEmailChange }: UseCases,
    { userId, email }: { readonly userId: string; readonly email: string },
    context: CommandContext,
    clock: SimulatedProcess['clock'],
  ): Promise<void> {
    // The wait lets a later change replace an earlier one.
    if (chance(0.5)) await clock.sleep(61_000);
    const asked = { ...context, time: clock.now() };
    await requestEmailChange({ userId, email }, asked);
    count('change asked for');
    if (chance(0.5)) await clock.sleep(61_000);
    const change_id = derivedId(asked, 'email-change');
    const confirmation = { ...contextNow(), time: clock.now() };
    await confirmEmailChange({ userId, session, code: codeOf(change_id) }, confirmation);
    count('change confirmed');
    confirmed.push({ userId, email_digest: digests.email(email) });
  }

  /** Undoes a change of the user, at times in the last moments of its code. */
  async function undo(process: UseCases, userId: string, clock: SimulatedProcess['clock']): Promise<void> {
    const findFormer = async () => {
      const { state: user } = await process.handler.load(userAggregate, userId);
      return user.status === 'registered' ? user.formerAddresses[0] : undefined;
    };
    let former = await findFormer();
    for (let looks = 0; former === undefined && looks < 20; looks += 1) former = await findFormer();
    const email = [...ownAddresses, ...freeAddresses].find(
      (address) => digests.email(address) === former?.email_digest,
    );
    if (former === undefined || email === undefined) return;
    if (chance(0.5))
      await clock.sleep(former.until.getTime() - clock.now().getTime() - (chance(0.5) ? 1 : 0));
    const input = { email, code: former.change_id, client: { ip: '192.0.2.1', known: null } };
    await process.revertEmailChange(input, { ...contextNow(), time: clock.now() });
    count('undone');
  }

  async function erase(process: UseCases, userId: string, context: CommandContext): Promise<void> {
    const target = { aggregate: userAggregate, id: userId };
    await process.handler.handle(target, { type: 'Erase' }, context);
    const { state } = await process.handler.load(userAggregate, userId);
    if (state.status === 'erased') await process.reservations.release(state.email_digest, userId, context);
    count('erased');
  }

  /** Runs the reactions in the order of the log, as their runner does. */
  function startReactor(): void {
    startProcess(async ({ reactions }) => {
      for (const event of await simulation.events()) {
        for (const reaction of reactions) {
          const seen = eventFor(reaction, event);
          if (seen === null || (await reaction.asks(seen)) !== 'yes') continue;
          count(`reaction ${reaction.name}`);
          await reaction.conclude(seen, contextFor(reaction, seen), undefined);
        }
      }
    });
  }

  /** Repeats a command after a crash or a failure in another process, at times. */
  function startTries(
    work: (process: UseCases, context: CommandContext, clock: SimulatedProcess['clock']) => Promise<unknown>,
  ): void {
    const context = contextNow();
    const startTry = (number: number): void => {
      const again = (): void => {
        if (number < 3 && chance(0.5)) startTry(number + 1);
      };
      startProcess((process, { clock }) => work(process, context, clock), again);
    };
    startTry(1);
  }

  function startProcess(
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
    simulation.start(main, { skewMs: 0, onCrash: again });
  }
}

function registrationOf(email: string) {
  return { email, password: 'Correct-Horse-7', client: null, userAgent: null };
}
