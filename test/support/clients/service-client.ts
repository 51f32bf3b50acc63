import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import {
  callOperator,
  changeRequest,
  type OperatorQuery,
  type OperatorRequest,
  readRequest,
} from '../../../src/operating/socket/client.js';
import { controlSocketPath } from '../../../src/operating/socket/listen.js';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../../src/event-sourcing/ports/domain-event.js';
import { errorBreaches } from './http-contract.js';
import { totpCode } from '../fakes/authenticator-app.js';

export interface ServiceReply {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Returns the body, which must be an object. */
  json(): JsonObject;
}

export type HeaderFields = Readonly<Record<string, string>>;

/** A signed-in user and the header that authenticates it. */
export interface SignedIn {
  readonly userId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly headers: HeaderFields;
}

/**
 * A client of a served process. Every call has a time limit. Rejects when there is no answer, and when an error reply
 * breaks the rules of error replies.
 */
export interface ServiceClient {
  get(path: string, headers?: HeaderFields): Promise<ServiceReply>;
  post(path: string, body: JsonValue, headers?: HeaderFields): Promise<ServiceReply>;
  patch(path: string, body: JsonValue, headers?: HeaderFields): Promise<ServiceReply>;
  delete(path: string, headers?: HeaderFields): Promise<ServiceReply>;
  /** Sends any request, for malformed ones. */
  send(path: string, init: RequestInit): Promise<ServiceReply>;
  register(email: string, password: string, more?: JsonObject): Promise<SignedIn>;
  login(email: string, password: string): Promise<SignedIn>;
  /** Makes a project of the caller. @returns its id */
  makeProject(headers: HeaderFields, name?: string): Promise<string>;
}

const answerMsMax = 600_000;

/** Makes a client. @param url the URL of the service without a path; paths of calls begin with a slash */
export function makeServiceClient(url: string): ServiceClient {
  const send = async (path: string, init: RequestInit): Promise<ServiceReply> => {
    const reply = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(answerMsMax), ...init });
    const text = await reply.text();
    const { status, headers } = reply;
    const breaches = errorBreaches({ method: init.method ?? 'GET', status, headers, text });
    if (breaches.length > 0) throw new Error(`${path}: ${breaches.join('; ')}`);
    return { status, text, headers, json: () => asObject(JSON.parse(text)) };
  };
  const sendJson =
    (method: string): ServiceClient['post'] =>
    (path, body, headers = {}) =>
      send(path, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
  const post = sendJson('POST');
  /** A busy machine refuses hashes that would wait for too long, so the call is repeated. */
  const signIn = async (status: number, path: string, body: JsonObject): Promise<SignedIn> => {
    for (let attempt = 1; ; attempt += 1) {
      const reply = await post(path, body);
      if (reply.status === status) return signedIn(reply.json());
      const isRefused = reply.status === 503 && textOf(reply.json(), 'code') === 'overloaded';
      if (!isRefused || attempt === 60)
        throw new Error(`${path} was answered ${reply.status}: ${reply.text}`);
      await wait(1_000);
    }
  };
  return {
    send,
    get: (path, headers = {}) => send(path, { headers: { ...headers } }),
    post,
    patch: sendJson('PATCH'),
    delete: (path, headers = {}) => send(path, { method: 'DELETE', headers: { ...headers } }),
    register: (email, password, more = {}) =>
      signIn(201, '/api/v1/auth/register', { email, password, ...more }),
    login: (email, password) => signIn(200, '/api/v1/auth/login', { email, password }),
    makeProject: async (headers, name = 'Film') => {
      const reply = await post('/api/v1/projects', { name }, headers);
      if (reply.status !== 201) throw new Error(`a project was answered ${reply.status}: ${reply.text}`);
      return textOf(reply.json(), 'id');
    },
  };
}

/** Returns the user that the reply of a registration or login signs in. */
export function signedIn(reply: JsonObject): SignedIn {
  const data = asObject(reply['data']);
  const [user, tokens] = [asObject(data['user']), asObject(data['tokens'])];
  const accessToken = textOf(tokens, 'access_token');
  return {
    userId: textOf(user, 'id'),
    accessToken,
    refreshToken: textOf(tokens, 'refresh_token'),
    headers: { authorization: `Bearer ${accessToken}` },
  };
}

/** Makes the request for a storage that any project may bind. */
export function storageRequest(name: string): JsonObject {
  return {
    name,
    provider: 's3',
    bucket: 'rushes',
    region: 'eu-central-1',
    credentials: { access_key: 'AKIAEXAMPLE', secret_key: 'not-a-real-secret' },
  };
}

/** Makes the request of an operator's command, by its words. */
export function operatorRequest(operation: string, input: JsonObject): OperatorRequest {
  return /\b(list|show|status|key)$/.test(operation)
    ? readRequest(operation, input as OperatorQuery)
    : changeRequest(operation, input);
}

/**
 * Runs an operator's command over the control socket of a running service.
 * @param operation its words, or a path of the service
 * @throws Error when it was refused or unanswered
 */
export async function operate(directory: string, operation: string, input: JsonObject): Promise<JsonValue> {
  const open = () => connect(controlSocketPath(directory));
  const reply = await callOperator(open, operatorRequest(operation, input));
  if (!reply.ok) throw new Error(reply.message);
  return reply.result;
}

/** Grants `allow_s3` to a project. */
export async function grantStorage(directory: string, projectId: string): Promise<void> {
  await operate(directory, 'project grant', { project_id: projectId, entitlement: 'allow_s3' });
}

/** Adds a node and returns it. */
export async function addNode(directory: string, name: string, address: string): Promise<JsonObject> {
  return asObject(
    await operate(directory, '/api/v1/admin/nodes', {
      name,
      ip_address: address,
      node_type: 'normal',
      lb_weight: 100,
      lb_enabled: true,
      dnsprovider_record_id: '',
      max_capacity_hint: null,
      note: '',
    }),
  );
}

/** Returns a field that must be a string. @throws Error */
export function textOf(object: JsonObject, field: string): string {
  const value = object[field];
  if (typeof value !== 'string') throw new Error(`${field} is not a string`);
  return value;
}

/** Returns the `data` of a reply about an account or a share. */
export function dataOf(reply: Pick<ServiceReply, 'json'>): JsonObject {
  return asObject(reply.json()['data']);
}

/** Returns the refresh token of a reply with tokens. */
export function refreshTokenOf(reply: Pick<ServiceReply, 'json'>): string {
  return textOf(asObject(dataOf(reply)['tokens']), 'refresh_token');
}

/** Returns the code of six digits in a mail, or an empty text. */
export function codeIn(text = ''): string {
  return /(?<!\d)\d{6}(?!\d)/.exec(text)?.[0] ?? '';
}

export function asObject(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw new Error(`not an object: ${JSON.stringify(value)}`);
  return value;
}

/**
 * Turns TOTP on for the account of a session, which has passed it then. The account must have no factor.
 * @returns the recovery codes
 */
export async function addTotp(client: ServiceClient, headers: HeaderFields): Promise<readonly string[]> {
  const enrolled = await client.post('/api/v1/auth/2fa/totp', {}, headers);
  const code = totpCode(textOf(dataOf(enrolled), 'secret'), new Date());
  const confirmed = await client.post('/api/v1/auth/2fa/totp/confirm', { code }, headers);
  if (confirmed.status !== 200) throw new Error(`TOTP was answered ${confirmed.status}: ${confirmed.text}`);
  return dataOf(confirmed)['recovery_codes'] as readonly string[];
}

/** Registers an account with a proved address and a second factor, which may audit. */
export async function registerAuditor(client: ServiceClient, directory: string): Promise<SignedIn> {
  const email = 'ada@example.org';
  const auditor = await client.register(email, 'Correct-Horse-7');
  await addTotp(client, auditor.headers);
  await operate(directory, 'user verify', { email });
  await operate(directory, 'platform-role grant', { email, role: 'auditor' });
  return auditor;
}

/** Passes the second factor by a recovery code. */
export async function recover(client: ServiceClient, headers: HeaderFields, code: string): Promise<void> {
  const passed = await client.post('/api/v1/auth/2fa/verify', { recovery_code: code }, headers);
  if (passed.status !== 200) throw new Error(`the code was answered ${passed.status}: ${passed.text}`);
}
