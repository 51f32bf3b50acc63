import type { ExecutionContext } from 'ava';
import { loginCodeAggregate } from '../../../src/areas/accounts/domain/login-code/login-code.js';
import { newestIssue } from '../examples/login-code.js';
import { addAsset } from '../given/given-share.js';
import { givenContext } from '../given/given-stores.js';
import { makeTestPaymentProvider } from '../fakes/test-payment-provider.js';
import { makeOpenApi } from '../../../src/http/document/openapi.js';
import type { Json } from '../../../src/http/document/openapi-texts.js';
import type { Route } from '../../../src/http/route.js';
import type { Answer } from '../clients/http-app.js';
import { agentSecret, password, startTestService } from '../servers/http-service.js';
import { rowsOf } from './sentences.js';

type Headers = Readonly<Record<string, string>>;

/** The sections whose tables list the fields of a reply. */
export const replyTables = ['2.1', '2.3', '2.4', '2.5'] as const;
export type ReplyTable = (typeof replyTables)[number];

/** The section whose table lists the fields of a request. */
export const requestTable = '2.2';

/** A row of a table of fields. */
export interface Field {
  readonly row: string;
  readonly name: string;
  readonly type: string;
  readonly format: string | null;
  /** `yes` or `no` in a table of a request; empty in others. */
  readonly required: string;
  readonly notes: string;
}

/** Reads the table of fields of a section. */
export function fieldsOf(section: ReplyTable | typeof requestTable): readonly Field[] {
  return rowsOf(section).map((cells) => {
    const [name = '', described = ''] = cells;
    const [, type = described, format = null] = /^(\w+) \((.*)\)$/.exec(described) ?? [];
    const required = section === requestTable ? cells[2] : '';
    const notes = cells[section === requestTable ? 3 : 2];
    return { row: cells.join(' | '), name, type, format, required: required ?? '', notes: notes ?? '' };
  });
}

export const storageKeys = {
  oss: { access_key: 'an-access-key', secret_key: 'canary-secret-key' },
  cos: { secret_id: 'an-access-key', secret_key: 'canary-secret-key' },
  s3: { access_key: 'an-access-key', secret_key: 'canary-secret-key' },
} as const;

/** A storage that each provider would take, with the keys of `cos`. */
export const cosStorage = {
  ...{ name: 'Rushes', provider: 'cos', bucket: 'rushes-1250000000', region: 'ap-guangzhou' },
  credentials: storageKeys.cos,
} as const;

/** Starts the service with an owner and a project, and gives the calls of the contract. */
export async function startContract(
  t: ExecutionContext,
  overrides: Parameters<typeof startTestService>[1] = {},
) {
  const paymentProviders = new Map([
    ['standard', makeTestPaymentProvider()],
    ['epay', makeTestPaymentProvider({ get: 'settles' })],
  ] as const);
  const service = await startTestService(t, {
    ...{ trustedProxies: ['127.0.0.1'], paymentProviders },
    ...overrides,
  });
  const { ask, get, post, commands, stores } = service;
  const owner = await service.signUp('ada');
  await service.verify('ada');
  const project = await service.makeProject(owner);
  const url = `/api/v1/projects/${project}`;
  let contexts = 5_000;
  const next = () => givenContext((contexts += 1), stores.clock.now(), 'operator');
  return {
    ...{ ...service, owner, project, url },
    register: (name: string, more: object = {}) =>
      post('/api/v1/auth/register', { email: `${name}@example.com`, password, ...more }),
    bind: (body: unknown = cosStorage, headers: Headers = owner): Promise<Answer> =>
      post(`${url}/storages`, body, headers),
    /** Registers a person and makes them a member. */
    join: async (name: string, role: string): Promise<Headers> => {
      const headers = await service.signUp(name);
      await service.verify(name);
      const added = await post(`${url}/members`, { email: `${name}@example.com`, role }, owner);
      t.is(added.status, 201, added.text);
      return headers;
    },
    issueKey: async (...scopes: readonly string[]): Promise<Headers> => {
      const issued = await post(`${url}/api-keys`, { name: 'k', scopes }, owner);
      t.is(issued.status, 201, issued.text);
      return { 'x-api-key': (issued.json as { key: string }).key };
    },
    addPeer: async (name: string, address: string): Promise<string> => {
      stores.clock.advance(1_000);
      return (await commands.addNode({ name, ip_address: address }, next())).resource.id;
    },
    peers: async (query = '') => {
      const answer = await get(`/api/v1/internal/peer-list${query}`, { 'x-agent-secret': agentSecret });
      t.is(answer.status, 200, answer.text);
      return answer.json as { readonly items: readonly Readonly<Record<string, unknown>>[] };
    },
    /** Shares an asset whose object is in its bucket, and returns the token of the share. */
    share: async (): Promise<string> => {
      const bound = await post(`${url}/storages`, cosStorage, owner);
      const { id: storageId } = bound.json as { id: string };
      const assetId = await addAsset(stores, { projectId: project, storageId });
      const shared = await post(`${url}/shares`, { asset_id: assetId, password: 'open sesame' }, owner);
      t.is(shared.status, 201, shared.text);
      return (shared.json as { token: string }).token;
    },
    open: (token: string, body: unknown = { password: 'open sesame' }, headers: Headers = {}) =>
      post(`/api/v1/shares/${token}/verify`, body, headers),
    sendCode: (email: unknown = 'ada@example.com', headers: Headers = {}) =>
      post('/api/v1/auth/email-code/send', { email }, headers),
    /** Returns the code that the mail to the owner contains. */
    mailedCode: async (): Promise<string> => {
      await commands.background.settled();
      const email_digest = stores.digests.email('ada@example.com');
      const issue = newestIssue((await stores.handler.load(loginCodeAggregate, email_digest)).state);
      if (issue === null) throw new Error('no code was issued');
      return commands.loginCodes.codeFor({ kid: issue.code_key_id, issue_id: issue.issue_id, email_digest });
    },
    placeOrder: async (provider: 'standard' | 'epay') => {
      const placed = await post('/api/v1/orders', { plan_id: 'capacity-100g', provider }, owner);
      t.is(placed.status, 201, placed.text);
      const { id, number } = placed.json as { id: string; number: string };
      const status = async (): Promise<string> =>
        ((await get(`/api/v1/orders/${id}`, owner)).json as { status: string }).status;
      return { number, status };
    },
    ask,
  };
}

/** A client with another address. */
export const from = (address: string): Headers => ({ 'x-forwarded-for': address });

/** Returns the published document of the routes with a tag. That of all routes costs more than most tests. */
export function documentOf(routes: readonly Route[], tag: string) {
  const described = { version: '0.0.0', publicUrl: 'http://localhost', passwordRules: '' };
  return makeOpenApi(
    routes.filter((route) => route.tag === tag),
    described,
  );
}

/** Holds that a reply is an error with the body of docs/api.md#25-error-body and nothing more. */
export function isError(t: ExecutionContext, answer: Answer, status: number): void {
  t.is(answer.status, status, answer.text);
  const { code, message, ...rest } = answer.json as Json;
  t.deepEqual([typeof code, typeof message, rest], ['string', 'string', {}], answer.text);
}
