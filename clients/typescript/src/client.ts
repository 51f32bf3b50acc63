import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './document.js';
import { must, StowageError } from './errors.js';
import { idempotentPaths } from './idempotent-paths.js';
import { defaultRetry, makeRefreshRetry, makeRetry, type RetryOptions, type Send } from './retry.js';
import { makeSession, type Session, type Tokens } from './session.js';

/** Every call of the OpenAPI document, typed: `api.GET('/api/v1/projects', …)`. */
export type StowageApi = Client<paths, 'application/json'>;

export interface StowageClientOptions {
  /** The address of the service without a path. */
  readonly url: string;
  /** The tokens of an earlier run of the program. */
  readonly tokens?: Tokens | null;
  /** Receives each new pair of tokens, and null at the end of the session. */
  readonly onTokens?: (tokens: Tokens | null) => void;
  /** The token of this device from an earlier run of the program, for `signIn`. */
  readonly deviceToken?: string | null;
  /** Receives the token of this device after each complete sign-in, so that the program can keep it. */
  readonly onDeviceToken?: (token: string) => void;
  /** A project's API key, in place of a session. */
  readonly apiKey?: string;
  readonly retry?: Partial<RetryOptions>;
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch;
}

/** The calls whose replies have tokens of the session, and one of the device. */
const signIns: ReadonlySet<string> = new Set([
  '/api/v1/auth/register',
  '/api/v1/auth/login',
  '/api/v1/auth/email-code/login',
  '/api/v1/auth/passkey-login',
  '/api/v1/auth/2fa/verify',
]);

export interface StowageClient extends Pick<Session, 'tokens'> {
  readonly api: StowageApi;
  /** The token of this device, for the bodies of calls that sign in; null before the first complete sign-in. */
  readonly deviceToken: () => string | null;
  /** @throws StowageError, for example `email_taken` */
  register(account: {
    readonly email: string;
    readonly password: string;
    readonly nickname?: string;
  }): Promise<Tokens>;
  /** @throws StowageError, for example `invalid_credentials` */
  signIn(account: { readonly email: string; readonly password: string }): Promise<Tokens>;
  /** Ends the session at the service and here. */
  signOut(): Promise<void>;
}

/** Makes a client. It sends requests again when that is safe, and gets new tokens when the access token has expired. */
export function makeStowageClient(options: StowageClientOptions): StowageClient {
  const { tokens = null, onTokens = () => undefined, apiKey, retry } = options;
  const url = options.url.replace(/\/+$/, '');
  let { deviceToken = null } = options;
  const fetch = options.fetch ?? globalThis.fetch;
  const plain: Send = (request) => fetch(request);
  const limits = { ...defaultRetry, ...retry };
  const send = makeRetry(plain, limits);
  const sendRefresh = makeRetry(makeRefreshRetry(plain), limits);
  const session = makeSession({ url, send, sendRefresh, onTokens });
  if (tokens !== null) session.use(tokens);

  const api = createClient<paths>({ baseUrl: url, fetch: apiKey === undefined ? session.send : send });
  api.use({
    onRequest: ({ request, schemaPath }) => {
      // In this form an error names each wrong field for programs.
      if (!request.headers.has('accept')) request.headers.set('accept', 'application/problem+json, */*');
      if (apiKey !== undefined) request.headers.set('x-api-key', apiKey);
      const takesKey = request.method === 'POST' && idempotentPaths.has(schemaPath);
      if (takesKey && !request.headers.has('idempotency-key')) {
        request.headers.set('idempotency-key', makeKey());
      }
      return request;
    },
    onResponse: async ({ response, schemaPath }) => {
      if (!response.ok || !signIns.has(schemaPath)) return;
      const { data } = (await response.clone().json()) as {
        readonly data: { readonly tokens: Tokens; readonly device_token: string | null };
      };
      // Those of a second factor replace the tokens before. A later use of these would end the session.
      session.use(data.tokens);
      if (data.device_token === null) return;
      deviceToken = data.device_token;
      options.onDeviceToken?.(deviceToken);
    },
  });

  return {
    api,
    tokens: session.tokens,
    deviceToken: () => deviceToken,
    register: async (body) => {
      const { data } = await must(api.POST('/api/v1/auth/register', { body }));
      return data.tokens;
    },
    signIn: async (account) => {
      const body = { ...account, ...(deviceToken !== null && { device_token: deviceToken }) };
      const { data } = await must(api.POST('/api/v1/auth/login', { body }));
      return data.tokens;
    },
    signOut: async () => {
      const { error, response } = await api.POST('/api/v1/auth/logout', { body: {} });
      const refusal = response.ok ? null : new StowageError(response, error);
      // A session that has ended already has ended here too, by the refused refresh.
      if (refusal !== null && session.tokens() !== null) throw refusal;
      session.use(null);
    },
  };
}

/** Makes a key of 128 random bits. A page that came over http has no `crypto.randomUUID`. */
function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
