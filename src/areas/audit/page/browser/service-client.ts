import { fieldsOf, textIn } from './replies.js';

/** The service refused a call, or did not answer: then the status is 0. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly status: number;
  readonly code: string;
  /** Seconds after which the service asks to try again; 0 if it names none. */
  readonly retryAfter: number;

  constructor(parts: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly retryAfter: number;
  }) {
    super(parts.message);
    ({ status: this.status, code: this.code, retryAfter: this.retryAfter } = parts);
  }
}

/** Calls of the service. The tokens of the session stay in the memory of this object. */
export type ServiceClient = ReturnType<typeof makePageClient>;

type SessionTokens = { readonly access: string; readonly refresh: string };

const noFields: Readonly<Record<string, unknown>> = {};
const callMs = 20_000;
const retriesMax = 2;
const waitSecondsMax = 15;

/**
 * @param onEnd runs when the service has ended the session
 * @param onSecondFactor runs when a call needs the second factor first
 */
export function makePageClient(deps: { readonly onEnd: () => void; readonly onSecondFactor: () => void }) {
  const { onEnd, onSecondFactor } = deps;
  let session: SessionTokens | null = null;
  let refreshing: Promise<void> | null = null;
  const get = async (path: string): Promise<Response> => {
    for (let retries = 0; ; retries += 1) {
      try {
        return await authorised('GET', path);
      } catch (error) {
        const isBusy = error instanceof CallFailed && (error.status === 429 || error.code === 'overloaded');
        if (!isBusy || retries === retriesMax || error.retryAfter > waitSecondsMax) throw error;
        const waitMs = 1000 * Math.max(1, error.retryAfter);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  };
  return {
    /** Takes the tokens of a sign-in or of a second factor. */
    useTokens: (tokens: unknown) => {
      session = tokensOf(tokens);
    },
    hasSession: () => session !== null,
    getJson: async (path: string) => received(async () => (await (await get(path)).json()) as unknown),
    getText: async (path: string) => received(async () => (await get(path)).text()),
    getBytes: async (path: string) =>
      received(async () => new Uint8Array(await (await get(path)).arrayBuffer())),
    post: async (path: string, body: object) =>
      received(async () => {
        const response = await authorised('POST', path, body);
        return response.status === 204 ? null : ((await response.json()) as unknown);
      }),
    signOut: async () => {
      const ended = session;
      session = null;
      if (ended === null) return;
      const end = ({ access: token }: SessionTokens) =>
        send('POST', '/api/v1/auth/logout', { body: {}, token });
      try {
        await end(ended);
      } catch (error) {
        if (!(error instanceof CallFailed) || error.status !== 401) throw error;
        await end(await renewed(ended));
      }
    },
  };

  /** Sends a request with the token of the session. A token that has expired is replaced once. */
  async function authorised(method: string, path: string, body?: object): Promise<Response> {
    const used = session;
    try {
      return await send(method, path, { body, token: used?.access });
    } catch (error) {
      if (!(error instanceof CallFailed) || used === null) throw error;
      if (error.code === 'two_factor_required') onSecondFactor();
      if (error.status !== 401) throw error;
      // Another call may have replaced the token meanwhile.
      if (session === used) await refresh(used);
      if (session === null) throw error;
      return await send(method, path, { body, token: session.access });
    }
  }

  async function refresh(used: SessionTokens): Promise<void> {
    refreshing ??= (async () => {
      const tokens = await renewed(used);
      // The auditor may have signed out meanwhile.
      if (session === used) session = tokens;
    })().finally(() => {
      refreshing = null;
    });
    try {
      await refreshing;
    } catch (error) {
      if (!(error instanceof CallFailed) || error.status !== 401) throw error;
      if (session !== used) return;
      session = null;
      onEnd();
    }
  }
}

async function renewed({ refresh }: SessionTokens): Promise<SessionTokens> {
  const reply = await send('POST', '/api/v1/auth/refresh', { body: { refresh_token: refresh } });
  return tokensOf(fieldsOf(fieldsOf(await reply.json())['data'])['tokens']);
}

function tokensOf(tokens: unknown): SessionTokens {
  const fields = fieldsOf(tokens);
  return { access: textIn(fields, 'access_token'), refresh: textIn(fields, 'refresh_token') };
}

/** Returns a sentence about an error of a call. */
export function sentenceOfCall(error: unknown): string {
  if (!(error instanceof CallFailed))
    return `The reply of the service cannot be used: ${error instanceof Error ? error.message : String(error)}.`;
  const { status, code, message, retryAfter } = error;
  switch (code) {
    case 'invalid_credentials':
      return 'The address, the password or the code is wrong.';
    case 'insufficient_role':
      return 'This account is not an auditor. An operator makes it one with: stowage auditor grant <address>';
    case 'nothing_signed':
      return 'Nothing is signed yet. The first checkpoint follows about ten seconds after the first events.';
    case 'passkeys_not_configured':
      return 'This service takes no passkeys.';
    case 'account_banned':
      return 'This account is banned.';
  }
  if (status === 0) return 'The service does not answer. Try again in a moment.';
  if (status === 429) return `There were too many requests. Wait ${Math.max(1, retryAfter)} seconds.`;
  if (status === 401) return 'The session has ended. Sign in again.';
  return `The service refuses this (${status}): ${message}.`;
}

async function send(
  method: string,
  path: string,
  { body, token }: { readonly body?: object | undefined; readonly token?: string | undefined },
): Promise<Response> {
  const response = await received(() =>
    fetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...{ cache: 'no-store', credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer' },
      signal: AbortSignal.timeout(callMs),
    }),
  );
  if (response.ok) return response;
  const fields = await response.json().then(fieldsOf, () => noFields);
  const retryAfter = Number(response.headers.get('retry-after') ?? 0);
  throw new CallFailed({
    ...{ status: response.status, retryAfter: retryAfter > 0 ? retryAfter : 0 },
    ...{ code: wordIn(fields, 'code'), message: wordIn(fields, 'message') },
  });
}

/** Turns every failure of the connection into one error. Its text depends on the browser. */
async function received<Reply>(reading: () => Promise<Reply>): Promise<Reply> {
  try {
    return await reading();
  } catch (error) {
    // `fetch` fails with a TypeError, and with a DOMException at the time limit.
    if (!(error instanceof TypeError) && !(error instanceof DOMException)) throw error;
    throw new CallFailed({ status: 0, code: '', message: 'the service does not answer', retryAfter: 0 });
  }
}

/** An error of a proxy may have another form. */
function wordIn(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : 'unknown';
}
