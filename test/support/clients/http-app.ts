import type { ExecutionContext } from 'ava';
import { traceField } from '../../../src/kit/trace.js';
import { makeFixedAgentSecrets } from '../../../src/keys/codes/agent-secrets.js';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { ProjectAccess } from '../../../projections/projects/projects/reader.js';
import { composeHttp, type HttpDeps } from '../../../src/http/server/compose.js';
import type { Role } from '../../../src/areas/projects/domain/role.js';
import { makeOpenApi, type OpenApiDocument } from '../../../src/http/document/openapi.js';
import { type Route, areaOf } from '../../../src/http/route.js';
import { startHttpServer, type HttpServer, type ServerLimits } from '../../../src/http/server/server.js';
import { makeTestClock } from '../fakes/clock.js';
import type { SettableClock } from '../fakes/settable-clock.js';
import { partial } from '../fakes/partial.js';
import { contractBreaches } from './http-contract.js';
import { sendRequest } from './send-request.js';
import { makeMemoryStateStore } from '../fakes/memory-state-store.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; null when the reply has no JSON body. */
  readonly json: unknown;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body that is sent as JSON. */
  readonly json?: unknown;
  /** A body that is sent unchanged. */
  readonly body?: string | Uint8Array;
}

export interface TestHttp {
  readonly clock: SettableClock;
  readonly origin: string;
  readonly server: HttpServer;
  readonly registry: Registry;
  /** All routes that are served. */
  readonly routes: readonly Route[];
  /** Every logged line. */
  readonly logLines: readonly string[];
  /** Sends a request. Fails the test when the reply breaks the published document. */
  readonly ask: (path: string, options?: AskOptions) => Promise<Answer>;
}

/** The published documents of paths, by the routes of the path. */
export type TestDocuments = Map<string, OpenApiDocument>;

/** A busy machine refuses no request by its time. */
const patientRequests = { totalMs: 600_000, awayMs: 600_000 };

/** Client and server share one thread. On a busy machine a request may arrive late although the client is not slow. */
export const patientLimits: Partial<ServerLimits> = {
  headersTimeout: 600_000,
  requestTimeout: 600_000,
  keepAliveTimeout: 600_000,
  // All clients of a test have one address, and some send long pipelines.
  connectionsPerClientMax: 1_000,
  pipelinedMax: 1_000,
};

/** Starts the shell around routes, with harmless defaults for the other parts; it ends with the test. */
export async function startTestHttp(
  t: ExecutionContext,
  {
    routes,
    limits,
    agentSecrets = [],
    documents = new Map(),
    ...deps
  }: {
    readonly routes: readonly Route[];
    /** The published documents by routes, which services with the same routes share. */
    readonly documents?: TestDocuments;
    readonly limits?: Partial<ServerLimits>;
  } & Partial<Omit<HttpDeps, 'routes' | 'limits' | 'clock' | 'agentSecrets'>> & {
      readonly agentSecrets?: HttpDeps['agentSecrets'] | readonly (string | undefined)[];
      readonly clock?: SettableClock;
      readonly rates?: HttpDeps['limits'];
    },
): Promise<TestHttp> {
  const clock = deps.clock ?? makeTestClock();
  const registry = new Registry();
  const logLines: string[] = [];
  const http = composeHttp({
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
    logger: pino({ level: 'debug', mixin: traceField }, { write: (line) => logLines.push(line) }),
    registry,
    trustedProxies: [],
    version: '0.0.0',
    publicUrl: 'http://localhost',
    passwordRules: 'at least 10 characters',
    available: { mail: true, passkeys: false },
    limits: deps.rates ?? {},
    requestMs: patientRequests,
    ...deps,
    agentSecrets: 'digests' in agentSecrets ? agentSecrets : makeFixedAgentSecrets(agentSecrets),
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
  const documentOf = makeDocumentOf(http.routes, documents);
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
      const url = new URL(`${origin}${path}`);
      const response = await sendRequest(url, { method, headers: { ...type, ...headers }, body: content });
      const reply = {
        method,
        // The path of callbacks is served with a slash too, which the document does not say.
        path: url.pathname.replace(/(?<=\/webhooks\/[a-z]+)\/$/, ''),
        ...response,
      };
      t.deepEqual(
        contractBreaches(documentOf(reply.path), reply),
        [],
        `${method} ${path} → ${response.status}`,
      );
      const isJson = /^application\/json(;|$)/.test(response.headers.get('content-type') ?? '');
      return { ...reply, json: isJson && reply.text !== '' ? (JSON.parse(reply.text) as unknown) : null };
    },
  };
}

/**
 * Makes the function that returns the published document of a path. The whole document of a service costs more than
 * most tests. The part of each route is the same by itself, which the tests of the document prove.
 */
function makeDocumentOf(routes: readonly Route[], known: TestDocuments): (path: string) => OpenApiDocument {
  const byArea = new Map<string, readonly Route[]>();
  for (const route of routes) {
    const area = areaOf(route.path);
    byArea.set(area, [...(byArea.get(area) ?? []), route]);
  }
  return (path) => {
    const here = (byArea.get(areaOf(path)) ?? []).filter((route) => pathPattern(route.path).test(path));
    const key = here.map(({ method, path: template }) => `${method} ${template}`).join(' ');
    const document = known.get(key) ?? published(here);
    known.set(key, document);
    return document;
  };
}

const pathPatterns = new Map<string, RegExp>();

function pathPattern(template: string): RegExp {
  const pattern =
    pathPatterns.get(template) ??
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);
  pathPatterns.set(template, pattern);
  return pattern;
}

const documents = new Map<string, OpenApiDocument>();

/**
 * Returns the same object for the same text, so that the checks of a document are built once for all services of a
 * process.
 */
const described = {
  version: '0.0.0',
  publicUrl: 'http://localhost',
  passwordRules: 'at least 10 characters',
};

function published(routes: readonly Route[]): OpenApiDocument {
  const text = JSON.stringify(makeOpenApi(routes, described));
  const document = documents.get(text) ?? (JSON.parse(text) as OpenApiDocument);
  documents.set(text, document);
  return document;
}

/** Readers that find no account, session or project. */
export const noReaders: HttpDeps['readers'] = {
  access: {
    session: () => Promise.resolve({ session: null, user: null, project: null }),
    apiKey: () => Promise.resolve(null),
  },
};

/** A sealer that shows the claim of a sealed reply, and refuses to open it for another claim. */
export const plainSealer: HttpDeps['replySealer'] = {
  seal: (claim, plaintext) => Promise.resolve(`${claim}|${plaintext}`),
  open: (claim, sealed) =>
    sealed.startsWith(`${claim}|`)
      ? Promise.resolve(sealed.slice(claim.length + 1))
      : Promise.reject(new Error('sealed for another claim')),
};

/** Makes a project for the gate, with the roles of its members by user id. */
export function exampleProject(members: Readonly<Record<string, Role>>): ProjectAccess {
  return {
    id: '0196a000-0000-7000-8000-000000000001',
    requireTwoFactor: false,
    entitlements: { allow_s3: true },
    defaultStorageId: null,
    roleOf: (userId) => members[userId] ?? null,
    document: partial({ body: partial({ billed_to: 'payer' }) }),
  };
}
