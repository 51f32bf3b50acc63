import type { CommandContext } from '../../src/event-sourcing/ports/command-context.js';
import type { StoredEvent } from '../../src/event-sourcing/ports/domain-event.js';
import { CommandRejected, StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { Overloaded } from '../../src/kit/semaphore.js';
import { HttpError } from '../../src/http/replies/error-codes.js';
import { makeSeededRandom } from '../support/fakes/clock.js';
import { userId } from '../support/examples/ids.js';
import { type Attempt, eventsOf, judge, raisingIn } from './session-history.js';
import { credentials, makeSessionWorld, refreshTokens, type SessionProcess } from './session-world.js';
import {
  chooseWeather,
  calm,
  makeSimulation,
  type ScheduleOptions,
  type Weather,
} from './register-simulation.js';

const { client } = credentials;

/** A session as its client knows it, with the newest refresh token that the client got. */
interface Client {
  readonly sessionId: string;
  token: string;
}

type Kind = Attempt['kind'];

const kinds: readonly Kind[] = [
  ...(['refresh', 'refresh', 'refresh', 'authenticate', 'authenticate', 'authenticate'] as const),
  ...(['strengthen', 'login', 'code', 'logout', 'logout-all', 'password'] as const),
];
const endingKinds: readonly Kind[] = ['logout', 'logout-all', 'password'];

/** The probability of each fault in the worst weather. */
const worst: Weather = { crash: 0.02, refuse: 0.06, loseAcknowledgement: 0.2, delay: 0.08, longPause: 0.03 };

/**
 * Runs one schedule: clients of two sessions of one user concurrently refresh, strengthen, sign in by password and by a
 * mailed code, sign out and change the password. Returns the problem of its history, or null.
 * @param seed determines the whole schedule
 */
export async function runSchedule(
  seed: number,
  { tally, sabotage = (handler) => handler }: ScheduleOptions,
): Promise<string | null> {
  const simulation = makeSimulation({ random: makeSeededRandom(seed), tally });
  const { random, chance, pick, nextContext: makeContext } = simulation;
  const world = await makeSessionWorld(simulation, sabotage);
  const attempts: Attempt[] = [];
  const clients = (await world.setUp(2, makeContext)).map(clientOf);
  const weather = chooseWeather(chance, worst);
  simulation.setWeather(weather);
  const count = 4 + Math.floor(random() * 6);
  // Some schedules end no session, to check that none ends by itself.
  const choices = chance(0.2) ? kinds.filter((kind) => !endingKinds.includes(kind)) : kinds;
  for (let index = 0; index < count; index += 1) plan(pick(choices), pick(clients));
  await simulation.run();
  const log = await simulation.events();
  return judge({ attempts, log, undisturbed: weather === calm }, tally) ?? (await checkAftermath(log));

  /** Plans an attempt some turns later, so that it may come before, beside or after the others. */
  function plan(kind: Kind, client: Client): void {
    const waits = Math.floor(random() * 25);
    simulation.start(
      async ({ clock }) => {
        for (let wait = 0; wait < waits; wait += 1) await clock.sleep(0);
        begin(kind, client, client.token, 1);
      },
      { skewMs: 0, onCrash: () => undefined },
    );
  }

  function begin(kind: Kind, client: Client, token: string, number: number): void {
    const context = makeContext();
    const { sessionId } = client;
    const attempt: Attempt = {
      name: `${kind} ${String(attempts.length + 1)}`,
      ...{ kind, commandId: context.commandId, sessionId, presented: kind === 'refresh' ? token : null },
      ...{ startedAt: simulation.step(), startedMs: simulation.nowMs() },
      ...{ endedAt: Infinity, outcome: 'unknown', answer: null },
    };
    attempts.push(attempt);
    const again = (): void => {
      if (number < 3 && chance(0.6)) begin(kind, client, token, number + 1);
    };
    // The second attempt is a client that does not wait for its answer, or a thief.
    if (kind === 'refresh' && number === 1 && chance(0.3)) begin(kind, client, token, 2);
    simulation.start(
      async (process) => {
        try {
          attempt.answer = await ask({ kind, client, token }, world.process(process), context);
          attempt.outcome = 'passed';
          if (attempt.answer !== null && isNewer(attempt.answer, client.token)) client.token = attempt.answer;
        } catch (error) {
          attempt.outcome = outcomeOf(error);
          if (attempt.outcome === 'unknown') again();
        }
        attempt.endedAt = simulation.step();
        if (kind === 'refresh' && attempt.answer !== null && chance(0.4))
          begin(kind, client, attempt.answer, 1);
      },
      { skewMs: 0, onCrash: again },
    );
  }

  /** @returns the refresh token of the answer */
  async function ask(
    {
      kind,
      client: { sessionId },
      token,
    }: { readonly kind: Kind; readonly client: Client; readonly token: string },
    process: SessionProcess,
    context: CommandContext,
  ): Promise<string | null> {
    switch (kind) {
      case 'refresh':
        return (await process.refresh({ refreshToken: token }, context)).refresh_token;
      case 'authenticate':
        await process.authenticate(sessionId);
        return null;
      case 'strengthen': {
        // The gate authenticates before this command.
        await process.authenticate(sessionId);
        const factor = { code: '000000' };
        const { tokens } = await process.passSecondFactor({ userId, sessionId, client, factor }, context);
        return tokens.refresh_token;
      }
      case 'login':
      case 'code': {
        const signIn = kind === 'login' ? process.login : process.loginByEmailCode;
        const { tokens } = await signIn(credentials, context);
        const client = clientOf(tokens.refresh_token);
        clients.push(client);
        if (chance(0.7)) plan(pick(['refresh', 'authenticate']), client);
        return null;
      }
      case 'logout':
      case 'logout-all':
        await process.logout({ userId, sessionId, all: kind === 'logout-all' }, context);
        return null;
      case 'password': {
        const { caller } = await process.authenticate(sessionId);
        const { sessionEpoch: epoch, emailCodeAt } = caller;
        const session = { id: sessionId, epoch, emailCodeAt };
        const [currentPassword, newPassword] = [credentials.password, 'Better-Horse-8'];
        await process.changePassword({ userId, session, currentPassword, newPassword, client }, context);
        return null;
      }
    }
  }

  /** Checks after the schedule that exactly the clients with a live session can refresh their newest token. */
  async function checkAftermath(log: readonly StoredEvent[]): Promise<string | null> {
    simulation.setWeather(calm);
    const late: [Attempt, boolean][] = [];
    for (const client of clients) {
      const { generation } = refreshTokens.verify(client.token) ?? { generation: 0 };
      if (generation !== generationsOf(log, client.sessionId)) continue;
      begin('refresh', client, client.token, 2);
      const attempt = attempts.at(-1);
      if (attempt !== undefined) late.push([attempt, isAlive(log, client.sessionId)]);
    }
    await simulation.run();
    for (const [{ name, outcome }, alive] of late) {
      if ((outcome === 'passed') !== alive) return `${name}, when all was quiet, ended in ${outcome}`;
    }
    return null;
  }
}

function clientOf(token: string): Client {
  return { token, sessionId: refreshTokens.verify(token)?.sessionId ?? '' };
}

function isNewer(token: string, other: string): boolean {
  const [one, two] = [refreshTokens.verify(token), refreshTokens.verify(other)];
  return (one?.generation ?? 0) > (two?.generation ?? 0);
}

function generationsOf(log: readonly StoredEvent[], sessionId: string): number {
  const issuing = ['SessionStarted', 'RefreshTokenRotated', 'SessionStrengthened'];
  return eventsOf(log, sessionId).filter(({ type }) => issuing.includes(type)).length;
}

/** Returns from the log whether a session is not revoked, and has the user's epoch or was kept by the last change. */
function isAlive(log: readonly StoredEvent[], sessionId: string): boolean {
  const events = eventsOf(log, sessionId);
  const raising = raisingIn(log);
  const kept = raising.at(-1)?.data['kept_session_id'] === sessionId;
  const epoch = Number(events[0]?.data['epoch']);
  return !events.some(({ type }) => type === 'SessionRevoked') && (kept || epoch >= raising.length);
}

/** @throws any error that is not an answer of the service */
function outcomeOf(error: unknown): string {
  if (error instanceof CommandRejected) return String(error.code);
  if (error instanceof HttpError) return error.code;
  if (error instanceof StoreUnavailable || error instanceof Overloaded) return 'unknown';
  throw error;
}
