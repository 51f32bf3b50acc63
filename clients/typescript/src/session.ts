import type { components, operations } from './document.js';
import type { Send } from './retry.js';

type Refreshed = operations['refresh']['responses'][200]['content']['application/json'];
export type Tokens = components['schemas']['Tokens'];

export interface Session {
  /** The tokens in use; null when signed out. */
  readonly tokens: () => Tokens | null;
  /** Takes the tokens of a sign-in, or of an earlier run of the program; null signs this client out. */
  readonly use: (tokens: Tokens | null) => void;
  /** Sends a request with the access token. When the token has expired or is not valid, it gets new ones and sends the request again. */
  readonly send: Send;
}

/**
 * The codes after which a refresh tells whether the session goes on: it does after a change of the keys that sign access tokens, and does
 * not after an end on another device.
 */
const refreshable: ReadonlySet<unknown> = new Set(['token_expired', 'invalid_token']);

/** The next pair; the reply to a refresh that no pair follows yet; null where the request cannot be sent again. */
type Successor = Tokens | Response | null;

/**
 * Makes the session of a user. Requests that find the same token refused share one refresh, because a refresh token is replaced
 * with each use. Tokens that the service refuses to refresh sign the client out. A refresh that ends after another sign-in or a
 * sign-out changes nothing.
 * @param sendRefresh sends a refresh, and repeats it when its reply is lost
 * @param onTokens receives each new pair, so that the program can keep it, and null at the end of the session
 */
export function makeSession({
  url,
  send,
  sendRefresh,
  onTokens,
}: {
  readonly url: string;
  readonly send: Send;
  readonly sendRefresh: Send;
  readonly onTokens: (tokens: Tokens | null) => void;
}): Session {
  let tokens: Tokens | null = null;
  /** The refresh that began from a pair of tokens. Its result is the next pair of the same session. */
  const refreshes = new WeakMap<Tokens, Promise<Successor>>();

  const use = (next: Tokens | null): void => {
    tokens = next;
    onTokens(next);
  };

  const refresh = async (used: Tokens): Promise<Successor> => {
    const request = new Request(`${url}/api/v1/auth/refresh`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refresh_token: used.refresh_token }),
    });
    const reply = await sendRefresh(request);
    const next = reply.ok ? ((await reply.json()) as Refreshed).data.tokens : null;
    if (tokens !== used) return null;
    // The session goes on, so its caller must not take the 401 for its end.
    if (!reply.ok && reply.status !== 401) return reply;
    use(next);
    return next;
  };

  const successorOf = (used: Tokens): Promise<Successor> => {
    const begun = refreshes.get(used);
    if (begun !== undefined) return begun;
    // Another sign-in, or a sign-out, came meanwhile.
    if (tokens !== used) return Promise.resolve(null);
    const running = refresh(used).finally(() => {
      // It failed, so the next request tries again.
      if (tokens === used) refreshes.delete(used);
    });
    refreshes.set(used, running);
    return running;
  };

  return {
    tokens: () => tokens,
    use,
    send: async (request) => {
      const used = tokens;
      if (used === null || request.headers.has('authorization')) return send(request);
      const reply = await send(authorised(request, used));
      if (reply.status !== 401 || !refreshable.has(await codeOf(reply))) return reply;
      const next = await successorOf(used);
      if (next === null) return reply;
      return next instanceof Response ? next.clone() : send(authorised(request, next));
    },
  };
}

function authorised(request: Request, { access_token }: Tokens): Request {
  const copy = request.clone();
  copy.headers.set('authorization', `Bearer ${access_token}`);
  return copy;
}

async function codeOf(reply: Response): Promise<unknown> {
  const body = (await reply
    .clone()
    .json()
    .catch(() => null)) as { readonly code?: unknown } | null;
  return body?.code;
}
