import type { ExecutionContext } from 'ava';
import { builtInPlans } from '../../../src/areas/payments/domain/order/plans.js';
import { userAggregate } from '../../../src/areas/accounts/domain/user/user.js';
import type { Clock } from '../../../src/kit/time/clock.js';
import type { PlatformRole } from '../../../src/areas/accounts/domain/user/events.js';
import type { HttpDeps } from '../../../src/http/server/compose.js';
import type { PaymentMakers } from '../../../src/areas/payments/platforms/configured.js';
import type { PaymentProviders } from '../../../src/areas/payments/platforms/configured.js';
import { makeReplySealer, makeRoutes } from '../../../src/composition/http.js';
import type { Route } from '../../../src/http/route.js';
import { totpCode } from '../fakes/authenticator-app.js';
import { makeIdleAudit, type TestAudit } from '../audit/audit-source.js';
import { type BucketCalls, givenCommands, type PasswordOptions } from '../given/given-commands.js';
import { givenContext, givenStores, type GivenStores } from '../given/given-stores.js';
import {
  startTestHttp,
  type Answer,
  type AskOptions,
  type TestDocuments,
  type TestHttp,
} from '../clients/http-app.js';

export const password = 'Correct-Horse-7';
export const agentSecret = 'agent-canary-secret';

interface AddedTotp {
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

export interface TestService extends TestHttp {
  readonly stores: GivenStores;
  readonly commands: ReturnType<typeof givenCommands>;
  /** Registers `name@example.com` and returns the header that authenticates the account. */
  readonly signUp: (name: string) => Promise<{ readonly authorization: string }>;
  /** Verifies the address `name@example.com` for its account, and returns the account's id. */
  readonly verify: (name: string) => Promise<string>;
  /** Turns TOTP on for the account of a session, which has passed it then. */
  readonly passTwoFactor: (headers: { readonly authorization: string }) => Promise<AddedTotp>;
  /** Registers an account with a platform role and TOTP, and returns the header of its session, which has passed it. */
  readonly signUpAs: (role: PlatformRole, name?: string) => Promise<{ readonly authorization: string }>;
  /** Gives the account `name@example.com` a platform role. */
  readonly grantRole: (role: PlatformRole, name: string) => Promise<void>;
  /** Creates a project with the entitlement `allow_s3`, and returns its id. */
  readonly makeProject: (headers: { readonly authorization: string }) => Promise<string>;
  readonly post: (path: string, json: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
}

/** The documents of all services of the process. What a service is configured with changes no document. */
const documents: TestDocuments = new Map();

/** Starts every route over every command and reader, on stores in memory. */
export async function startTestService(
  t: ExecutionContext,
  overrides: Partial<Omit<HttpDeps, 'routes' | 'limits' | 'clock' | 'agentSecrets'>> & {
    readonly agentSecrets?: HttpDeps['agentSecrets'] | readonly (string | undefined)[];
    readonly rates?: HttpDeps['limits'];
    readonly passwords?: PasswordOptions;
    /** Default true. */
    readonly mailConfigured?: boolean;
    /** Default: all providers, with a scheme for tests. */
    readonly paymentProviders?: PaymentProviders;
    /** Default: none. */
    readonly paymentMakers?: PaymentMakers;
    readonly callbackSleep?: Clock['sleep'];
    /** The answers of buckets; the default finds no object. */
    readonly buckets?: Partial<BucketCalls>;
    /** Default: an audit log that signs nothing. */
    readonly makeAudit?: (stores: GivenStores) => TestAudit;
    readonly storeOptions?: Parameters<typeof givenStores>[0];
    /** Default: new stores with `storeOptions`. */
    readonly stores?: GivenStores;
  } = {},
): Promise<TestService> {
  const {
    passwords,
    mailConfigured = true,
    paymentProviders,
    paymentMakers,
    callbackSleep,
    buckets,
    makeAudit = makeIdleAudit,
    storeOptions,
    stores = await givenStores(storeOptions),
    ...shell
  } = overrides;
  const commands = givenCommands(stores, {
    ...passwords,
    mailConfigured,
    ...(paymentProviders && { paymentProviders }),
    ...(paymentMakers && { paymentMakers }),
    ...(callbackSleep && { callbackSleep }),
    ...(buckets && { buckets }),
  });
  const http = await startTestHttp(t, {
    routes: areaRoutes(commands, stores, mailConfigured, makeAudit(stores)),
    documents,
    readers: commands,
    accessTokens: commands.accessTokens,
    stateStore: stores.stateStore,
    digests: stores.digests,
    replySealer: makeReplySealer(stores.sealer),
    clock: stores.clock,
    agentSecrets: [agentSecret],
    ...shell,
  });
  const post = (path: string, json: unknown, headers: AskOptions['headers'] = {}): Promise<Answer> =>
    http.ask(path, { method: 'POST', json, headers });
  let granted = 0;
  let verified = 0;
  let roles = 0;
  const service: TestService = {
    ...http,
    stores,
    commands,
    post,
    get: (path, headers = {}) => http.ask(path, { headers }),
    signUp: async (name) => {
      const answer = await post('/api/v1/auth/register', { email: `${name}@example.com`, password });
      t.is(answer.status, 201, answer.text);
      const { data } = answer.json as { data: { tokens: { access_token: string } } };
      return { authorization: `Bearer ${data.tokens.access_token}` };
    },
    verify: async (name) => {
      const email_digest = stores.digests.email(`${name}@example.com`);
      const userId = (await commands.findAccount(email_digest))?.userId ?? '';
      verified += 1;
      await stores.handler.handle(
        { aggregate: userAggregate, id: userId },
        { type: 'VerifyEmail', email_digest },
        givenContext(8_000 + verified, stores.clock.now()),
      );
      return userId;
    },
    passTwoFactor: async (headers) => {
      const enrolled = (await post('/api/v1/auth/2fa/totp', {}, headers)).json as {
        data: { secret: string };
      };
      const code = totpCode(enrolled.data.secret, stores.clock.now());
      const confirmed = await post('/api/v1/auth/2fa/totp/confirm', { code }, headers);
      t.is(confirmed.status, 200, confirmed.text);
      const { data } = confirmed.json as { data: { recovery_codes: readonly string[] } };
      return { secret: enrolled.data.secret, recoveryCodes: data.recovery_codes };
    },
    grantRole: async (role, name) => {
      await service.verify(name);
      roles += 1;
      const context = givenContext(7_500 + roles, stores.clock.now(), 'operator');
      await commands.grantPlatformRole({ email: `${name}@example.com`, role }, context);
    },
    signUpAs: async (role, name = role) => {
      const headers = await service.signUp(name);
      await service.grantRole(role, name);
      await service.passTwoFactor(headers);
      return headers;
    },
    makeProject: async (headers) => {
      const { id } = (await post('/api/v1/projects', { name: 'Launch' }, headers)).json as { id: string };
      granted += 1;
      const context = givenContext(9_000 + granted, stores.clock.now(), 'operator');
      await commands.grantEntitlement(
        { projectId: id, entitlement: 'allow_s3', source: 'operator' },
        context,
      );
      return id;
    },
  };
  return service;
}

/** Returns the routes of all areas. */
export function areaRoutes(
  commands: ReturnType<typeof givenCommands>,
  stores: Pick<GivenStores, 'eventStore' | 'stateStore' | 'clock'>,
  mailConfigured = true,
  audit: TestAudit = makeIdleAudit(stores),
): readonly Route[] {
  const { clock } = stores;
  const shown = { plans: builtInPlans, audit, clock, mailConfigured, allowsHttp: false };
  return makeRoutes({ ...commands, ...commands.ofRoutes, ...shown });
}
