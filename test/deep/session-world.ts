import type { CommandContext } from '../../src/event-sourcing/ports/command-context.js';
import { makeDocumentWriter } from '../../src/event-sourcing/views/document-writer.js';
import { makeViews } from '../../src/event-sourcing/views/views.js';
import { makeGenerations } from '../../src/event-sourcing/views/generations/generations.js';
import { makeCommandHandler } from '../../src/event-sourcing/deciding/make-command-handler.js';
import { loginCodeAggregate } from '../../src/areas/accounts/domain/login-code/login-code.js';
import { userAggregate } from '../../src/areas/accounts/domain/user/user.js';
import { makeLoginCodeCommands } from '../../src/areas/accounts/commands/signing-in/login-codes.js';
import { makePasswordCommands } from '../../src/areas/accounts/commands/signing-in/passwords.js';
import { makeRefresh } from '../../src/areas/accounts/commands/signing-in/refreshing.js';
import { makePassSecondFactor } from '../../src/areas/accounts/commands/factors/second-factors.js';
import { makeSessionTokens, makeSessions } from '../../src/areas/accounts/commands/signing-in/sessions.js';
import { makeTryLoginCode } from '../../src/areas/accounts/commands/signing-in/try-login-code.js';
import { makeAuthenticator } from '../../src/http/access/authenticate.js';
import { makeKeyring } from '../../src/keys/rings/keyring.js';
import { makeRefreshTokens } from '../../src/keys/codes/refresh-tokens.js';
import { makeAccessReader } from '../../projections/projects/projects/reader.js';
import { makeSessionReader } from '../../projections/accounts/sessions/reader.js';
import { assetsProjection } from '../../projections/assets/assets/projection.js';
import { projectsProjection } from '../../projections/projects/projects/projection.js';
import { sessionsProjection } from '../../projections/accounts/sessions/projection.js';
import { makeUserReader } from '../../projections/accounts/users/reader.js';
import { usageTally } from '../../projections/assets/usage/projection.js';
import { usersProjection } from '../../projections/accounts/users/projection.js';
import { digest, userId } from '../support/examples/ids.js';
import { sealedExample } from '../support/examples/sealed.js';
import { register } from '../support/examples/user.js';
import type { Sabotage, SimulatedProcess, Simulation } from './register-simulation.js';
import { partial } from '../support/fakes/partial.js';
import type { Sealer } from '../../src/keys/sealing/sealer.js';
import type { Digests } from '../../src/keys/sealing/digests.js';
import type { MailedCodes } from '../../src/keys/codes/login-codes.js';
import type { AccessTokens } from '../../src/security/tokens/access-tokens.js';
import { noKnownDevices, unguarded } from '../support/fakes/unguarded.js';

const email = 'ada@example.com';
const password = 'Correct-Horse-7';
const code = '123456';
const client = { client: { ip: '192.0.2.1', known: null }, userAgent: null };
const recoveryCodes = Array.from({ length: 8 }, (_, index) => String(index).repeat(64));

export const refreshTokens = makeRefreshTokens(makeKeyring([{ kid: 'r1', key: Buffer.alloc(32, 5) }]));

/** The use cases that clients of a process call. */
export type SessionProcess = ReturnType<Awaited<ReturnType<typeof makeSessionWorld>>['process']>;

/** Makes the use cases of sessions and the authentication of production. Hashing, sealing and signing cost nothing. */
export async function makeSessionWorld(simulation: Simulation, sabotage: Sabotage) {
  const { random, documents, store } = simulation;
  // No process changes the registry here, and the time of the simulation leaps.
  const still = {
    now: () => new Date(0),
    steadyMs: () => 0,
    sleep: () => new Promise<void>(() => undefined),
  };
  // A reply about a user contains the used bytes, which a reader sums over the user's projects. Here there are none.
  const projections = [usersProjection, sessionsProjection, projectsProjection, assetsProjection, usageTally];
  const generations = makeGenerations({ projections, readModelStore: documents, clock: still });
  await generations.start();
  let sealed = 0;
  let factorsUsed = 0;
  const sealer = partial<Sealer>({
    // Two hashes of a password differ.
    seal: () => Promise.resolve(sealedExample(`sealed ${String((sealed += 1))}`)),
    open: (_scope, field) => Promise.resolve(field === 'email' ? email : 'opened'),
  });
  const right = { matches: true, needsRehash: false };
  const passwords = {
    hash: () => Promise.resolve('a hash'),
    verify: () => Promise.resolve(right),
    verifyNone: () => Promise.resolve({ matches: false, needsRehash: false }),
    requireRoom: () => undefined,
  };
  const accessTokens = partial<AccessTokens>({
    sign: () => Promise.resolve({ token: '', expiresAt: new Date(0), expiresInSeconds: 600 }),
  });
  return { process: makeProcess, setUp };

  function makeProcess({ eventStore, readModelStore, clock }: SimulatedProcess) {
    const documentWriter = makeDocumentWriter({
      ...{ generations, readModelStore, clock: still },
      // No projector runs here, so every late document is visible.
      onFailure: () => undefined,
    });
    const handler = sabotage(makeCommandHandler({ eventStore, documentWriter, clock, random }));
    const views = makeViews({ generations, readModelStore, eventStore });
    const readers = {
      users: makeUserReader({ views, sealer, usedBytes: () => Promise.resolve(0) }),
      sessions: makeSessionReader({ views, sealer }),
    };
    const digests = partial<Digests>({ ip: () => digest, email: () => digest });
    const common = {
      ...{ ...readers, handler, sealer, digests, passwords, accessTokens, refreshTokens, clock },
      ...{ knownDevices: noKnownDevices, passwordGuard: unguarded, mailedCodeGuard: unguarded },
      onFailure: () => undefined,
    };
    const sessions = makeSessions(common);
    const loginCodes = partial<MailedCodes>({ active: () => 'c1', matches: (_of, typed) => typed === code });
    const deps = {
      ...{ ...common, ...sessions, loginCodes, strongLoginCodes: loginCodes, checkPassword: () => null },
      findAccount: async () => {
        const { state: user } = await handler.load(userAggregate, userId);
        return user.status === 'registered' ? { userId, user } : null;
      },
      endGivenAccess: () => Promise.resolve(),
    };
    return {
      ...makePasswordCommands(deps),
      ...makeLoginCodeCommands({ ...deps, tryLoginCode: makeTryLoginCode(deps) }),
      ...sessions,
      refresh: makeRefresh(deps),
      passSecondFactor: makePassSecondFactor({
        ...{ ...deps, sessionTokens: makeSessionTokens(deps) },
        secondFactors: {
          pass: (_of, _typed, use) => {
            const next = recoveryCodes[factorsUsed % recoveryCodes.length] ?? '';
            factorsUsed += 1;
            return use({ kind: 'recovery-code', digest: next });
          },
        },
      }),
      /** Authenticates a caller with an access token of the session. @throws HttpError 401 */
      authenticate: (sessionId: string) =>
        makeAuthenticator({
          accessTokens: {
            verify: () => {
              const at = clock.now();
              const times = { issuedAt: at, expiresAt: at, authenticatedAt: at };
              const claims = { userId, sessionId, tokenId: 'a token', methods: ['pwd'], ...times };
              return Promise.resolve({ valid: true, claims });
            },
          },
          access: makeAccessReader({ views }),
          clock,
        }).session('an access token', { projectId: null, client: '192.0.2.1', admit: () => undefined }),
    };
  }

  /** Registers the user with a proved address and TOTP on, starts a number of sessions, and issues a login code. */
  async function setUp(sessions: number, context: () => CommandContext): Promise<readonly string[]> {
    const nowMs = () => simulation.nowMs();
    const clock = { now: () => new Date(nowMs()), steadyMs: nowMs, sleep: () => Promise.resolve() };
    const documentWriter = makeDocumentWriter({
      ...{ generations, readModelStore: documents, clock: still },
      onFailure: (error) => {
        throw error;
      },
    });
    const handler = makeCommandHandler({ eventStore: store, documentWriter, clock, random });
    const user = { aggregate: userAggregate, id: userId };
    const enrolment_id = context().commandId;
    const secret = sealedExample('a secret');
    await handler.handle(user, register, context());
    await handler.handle(user, { type: 'EnrolTotp', enrolment_id, secret }, context());
    const session = { id: enrolment_id, epoch: 0 };
    await handler.handle(
      user,
      { type: 'ConfirmTotp', enrolment_id, session, step: 1, recoveryCodes },
      context(),
    );
    await handler.handle(user, { type: 'VerifyEmail', email_digest: digest }, context());
    const issue = { issue_id: context().commandId, user_id: userId, email: secret, code_key_id: 'c1' };
    const now = clock.now();
    const expires_at = new Date(now.getTime() + 600_000).toISOString();
    await handler.handle(
      { aggregate: loginCodeAggregate, id: digest },
      { type: 'Issue', requester: 'known', ...issue, expires_at, now },
      context(),
    );
    const { login } = makeProcess({ eventStore: store, readModelStore: documents, clock });
    const tokens: string[] = [];
    for (let session = 0; session < sessions; session += 1) {
      tokens.push((await login({ email, password, ...client }, context())).tokens.refresh_token);
    }
    return tokens;
  }
}

export const credentials = { email, password, code, ...client };
