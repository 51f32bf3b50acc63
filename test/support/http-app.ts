import type { ExecutionContext } from 'ava';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { makeHttp } from '../../src/http/compose.js';
import type { HttpDeps } from '../../src/http/compose.js';
import type { Role } from '../../src/domain/role.js';
import type { ProjectAccess } from '../../src/http/access.js';
import { makeOpenApi, type OpenApiDocument } from '../../src/http/openapi.js';
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
  const documentOf = makeDocumentOf(http.routes);
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
        contractBreaches(documentOf(reply.path), reply),
        [],
        `${method} ${path} → ${response.status}`,
      );
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
      return { ...reply, json: isJson && text !== '' ? (JSON.parse(text) as unknown) : null };
    },
  };
}

/**
 * What the published document says of a path. Making all of it for a service costs more than most tests; each route's part is the same
 * by itself (see the tests of the document).
 */
function makeDocumentOf(routes: readonly Route[]): (path: string) => OpenApiDocument {
  const known = new Map<string, OpenApiDocument>();
  return (path) => {
    const here = routes.filter((route) => pathPattern(route.path).test(path));
    const key = here.map(({ method, path: template }) => `${method} ${template}`).join(' ');
    const document = known.get(key) ?? published(here);
    known.set(key, document);
    return document;
  };
}

function pathPattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);
}

const documents = new Map<string, OpenApiDocument>();

/** The same object for the same text: what checks replies against a document is made once for all services of a process. */
function published(routes: readonly Route[]): OpenApiDocument {
  const text = JSON.stringify(makeOpenApi(routes, { version: '0.0.0', publicUrl: 'http://localhost' }));
  const document = documents.get(text) ?? (JSON.parse(text) as OpenApiDocument);
  documents.set(text, document);
  return document;
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
    defaultStorageId: null,
    roleOf: (userId) => members[userId] ?? null,
    ...overrides,
  };
}
