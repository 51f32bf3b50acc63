import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { makeHttp } from '../../src/http/compose.js';
import type { HttpDeps } from '../../src/http/compose.js';
import type { Role } from '../../src/domain/role.js';
import type { ProjectAccess } from '../../src/http/access.js';
import type { OpenApiDocument } from '../../src/http/openapi.js';
import type { Route } from '../../src/http/route.js';
import { startHttpServer } from '../../src/http/server.js';
import type { HttpServer, ServerLimits } from '../../src/http/server.js';
import { makeTestClock } from './clock.js';
import type { TestClock } from './clock.js';
import { contractBreaches } from './http-contract.js';
import { makeMemoryStateStore } from './memory-state-store.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; null when there is none. */
  readonly json: unknown;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: string | Uint8Array;
}

export interface TestHttp {
  readonly clock: TestClock;
  readonly origin: string;
  readonly server: HttpServer;
  readonly registry: Registry;
  /** All that is served. */
  readonly routes: readonly Route[];
  /** Every line that was logged. */
  readonly logLines: readonly string[];
  /** Asks, and fails the test when the reply breaks the published document. */
  readonly ask: (path: string, options?: AskOptions) => Promise<Answer>;
}

/** Client and server share one thread: on a busy machine a request may arrive late, and that is no slow client. */
export const patientLimits: Partial<ServerLimits> = { headersTimeout: 60_000, requestTimeout: 60_000 };

/** Starts the shell around routes, with what tests leave out made harmless; it ends with the test. */
export async function startTestHttp(
  t: ExecutionContext,
  {
    routes,
    limits,
    ...deps
  }: {
    readonly routes: readonly Route[];
    readonly limits?: Partial<ServerLimits>;
  } & Partial<Omit<HttpDeps, 'routes' | 'limits' | 'clock'>> & {
      readonly clock?: TestClock;
      readonly rates?: HttpDeps['limits'];
    },
): Promise<TestHttp> {
  const clock = deps.clock ?? makeTestClock();
  const registry = new Registry();
  const logLines: string[] = [];
  const http = makeHttp({
    routes,
    readiness: { serving: () => true, ready: () => ({ ok: true, reasons: [] }) },
    readers: noReaders,
    accessTokens: {
      verify: () => Promise.resolve({ valid: false, code: 'invalid_token' }),
      jwks: () => Promise.resolve({ keys: [] }),
    },
    stateStore: makeMemoryStateStore({ clock }),
    digests: { of: (purpose, value) => `digest(${purpose}:${value})`, ip: (ip) => `digest(${ip})` },
    replySealer: plainSealer,
    logger: pino({ level: 'debug' }, { write: (line) => logLines.push(line) }),
    registry,
    trustedProxies: [],
    agentSecrets: [],
    version: '0.0.0',
    publicUrl: 'http://localhost',
    limits: deps.rates ?? {},
    ...deps,
    clock,
  });
  const server = await startHttpServer({
    ...http,
    host: '127.0.0.1',
    port: 0,
    limits: { ...patientLimits, ...limits },
  });
  t.teardown(() => server.close());
  const origin = `http://127.0.0.1:${server.port}`;
  let document: Promise<OpenApiDocument> | undefined;
  const readDocument = (): Promise<OpenApiDocument> => {
    document ??= fetch(`${origin}/openapi.json`).then(async (response) => {
      t.is(response.status, 200, 'the document');
      return parseDocument(await response.text());
    });
    return document;
  };
  return {
    clock,
    origin,
    server,
    registry,
    routes: http.routes,
    logLines,
    ask: async (path, { method = 'GET', headers = {}, json, body } = {}) => {
      const content = json === undefined ? body : JSON.stringify(json);
      const type: Record<string, string> = json === undefined ? {} : { 'content-type': 'application/json' };
      const response = await fetch(`${origin}${path}`, {
        method,
        headers: { ...type, ...headers },
        redirect: 'manual',
        ...(content === undefined ? {} : { body: content }),
      });
      const text = await response.text();
      const reply = {
        method,
        path: new URL(path, origin).pathname,
        status: response.status,
        headers: response.headers,
        text,
      };
      t.deepEqual(
        contractBreaches(await readDocument(), reply),
        [],
        `${method} ${path} → ${response.status}`,
      );
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
      return { ...reply, json: isJson && text !== '' ? (JSON.parse(text) as unknown) : null };
    },
  };
}

const documents = new Map<string, OpenApiDocument>();

/** The same object for the same text: what checks replies against a document is made once for all services of a file. */
function parseDocument(text: string): OpenApiDocument {
  const known = documents.get(text) ?? (JSON.parse(text) as OpenApiDocument);
  documents.set(text, known);
  return known;
}

/** Nobody has an account, a session or a project. */
export const noReaders: HttpDeps['readers'] = {
  sessions: { access: () => Promise.resolve(null) },
  users: { access: () => Promise.resolve(null) },
  projects: { access: () => Promise.resolve(null), apiKey: () => Promise.resolve(null) },
};

/** Shows which claim a reply was sealed for, and refuses to open it for another. */
export const plainSealer: HttpDeps['replySealer'] = {
  seal: (claim, plaintext) => Promise.resolve(`${claim}|${plaintext}`),
  open: (claim, sealed) =>
    sealed.startsWith(`${claim}|`)
      ? Promise.resolve(sealed.slice(claim.length + 1))
      : Promise.reject(new Error('sealed for another claim')),
};

/** A project for the gate, with members by user id. */
export function exampleProject(
  members: Readonly<Record<string, Role>>,
  overrides: Partial<ProjectAccess> = {},
): ProjectAccess {
  return {
    id: '0196a000-0000-7000-8000-000000000001',
    requireTwoFactor: false,
    entitlements: { allow_s3: true },
    roleOf: (userId) => members[userId] ?? null,
    ...overrides,
  };
}
