import type { ExecutionContext } from 'ava';
import type { StoredEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Answer } from '../clients/http-app.js';
import { asObject, textOf } from '../clients/service-client.js';
import type { givenStores } from './given-stores.js';
import { password, startTestService, type TestService } from '../servers/http-service.js';

/** The header of a session, and the token that renews it. */
export interface TestSession {
  readonly authorization: string;
  readonly refreshToken: string;
}

/** A service with Ada's account, whose address is proved, and what Ada and a thief do there. */
export interface FreshAccount extends TestService {
  readonly signIn: (email?: string, secret?: string) => Promise<TestSession>;
  /** Waits, and gets new tokens of the session. */
  readonly wait: (ms: number, session: TestSession) => Promise<TestSession>;
  /** Requests a mailed code for an address, and returns it. */
  readonly codeFor: (email: string) => Promise<string>;
  /** Changes the address by the code that is mailed there. */
  readonly changeAddress: (session: Headers, email: string) => Promise<void>;
  /** Returns the code of the notice about the last change away from an address. */
  readonly revertCodeFor: (email: string) => Promise<string>;
  readonly revert: (email: string, code: string) => Promise<Answer>;
}

type Headers = Readonly<Record<'authorization', string>>;

export const minuteMs = 60_000;

export async function givenFreshAccount(
  t: ExecutionContext,
  storeOptions: Parameters<typeof givenStores>[0] = {},
): Promise<FreshAccount> {
  const unlimited = { limit: 1_000, seconds: 1 };
  const rates = {
    login: unlimited,
    email_change: unlimited,
    email_code: unlimited,
    email_code_day: unlimited,
  };
  const service = await startTestService(t, { rates, storeOptions });
  const { post, stores, commands, clock } = service;
  await service.signUp('ada');
  await service.verify('ada');

  const lastEvent = async (type: string, matches: (event: StoredEvent) => boolean): Promise<StoredEvent> => {
    const { events } = await stores.eventStore.readAll({ after: null, limit: 1_000 });
    const found = events.filter((event) => event.type === type && matches(event)).at(-1);
    if (found === undefined) throw new Error(`there is no ${type}`);
    return found;
  };
  const tokensOf = (answer: Answer): TestSession => {
    t.is(answer.status, 200, answer.text);
    const tokens = asObject(asObject(asObject(answer.json)['data'])['tokens']);
    return {
      authorization: `Bearer ${textOf(tokens, 'access_token')}`,
      refreshToken: textOf(tokens, 'refresh_token'),
    };
  };

  return {
    ...service,
    signIn: async (email = 'ada@example.com', secret = password) =>
      tokensOf(await post('/api/v1/auth/login', { email, password: secret })),
    wait: async (ms, { refreshToken }) => {
      clock.advance(ms);
      return tokensOf(await post('/api/v1/auth/refresh', { refresh_token: refreshToken }));
    },
    codeFor: async (email) => {
      clock.advance(minuteMs);
      t.is((await post('/api/v1/auth/email-code/send', { email })).status, 200);
      const email_digest = stores.digests.email(email);
      const { data } = await lastEvent(
        'LoginCodeIssued',
        ({ stream }) => stream === `logincode-${email_digest}`,
      );
      const issue = { kid: textOf(data, 'code_key_id'), issue_id: textOf(data, 'issue_id'), email_digest };
      const codes = data['strong'] === true ? commands.strongLoginCodes : commands.loginCodes;
      return codes.codeFor(issue);
    },
    changeAddress: async ({ authorization }, email) => {
      clock.advance(minuteMs);
      const asked = await post('/api/v1/auth/email', { email }, { authorization });
      t.is(asked.status, 200, asked.text);
      const email_digest = stores.digests.email(email);
      const { data } = await lastEvent(
        'EmailChangeRequested',
        (event) => event.data['email_digest'] === email_digest,
      );
      const issue = { kid: textOf(data, 'code_key_id'), issue_id: textOf(data, 'change_id'), email_digest };
      const code = commands.addressChangeCodes.codeFor(issue);
      const confirmed = await post('/api/v1/auth/email/confirm', { code }, { authorization });
      t.is(confirmed.status, 204, confirmed.text);
    },
    revertCodeFor: async (email) => {
      const email_digest = stores.digests.email(email);
      const isOf = ({ data }: StoredEvent) => data['previous_email_digest'] === email_digest;
      const { data } = await lastEvent('EmailChanged', isOf);
      const kid = textOf(asObject(data['revert']), 'code_key_id');
      return commands.addressRevertCodes.codeFor({ kid, issue_id: textOf(data, 'change_id'), email_digest });
    },
    revert: (email, code) => post('/api/v1/auth/email/revert', { email, code }),
  };
}

/** Returns the status and, for an error, its code. */
export function statusOf({ status, json }: Answer): string {
  return status < 400 ? `${status}` : `${status} ${textOf(asObject(json), 'code')}`;
}
