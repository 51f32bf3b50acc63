import type { components, operations } from './document.js';
import type { Send } from './retry.js';

type Refreshed = operations['refresh']['responses'][200]['content']['application/json'];
export type Tokens = components['schemas']['Tokens'];

export interface Session {
  /** The tokens in use; null when signed out. */
  readonly tokens: () => Tokens | null;
  /** Takes the tokens of a sign-in, or of an earlier run of the program; null signs this client out. */
  readonly use: (tokens: Tokens | null) => void;
  /** Sends a request with the access token. When the token has expired, it gets new ones and sends the request again. */
  readonly send: Send;
}

/**
 * Makes the session of a user. Requests that find the token expired at the same time share one refresh, because a refresh token
 * is replaced with each use. Tokens that the service refuses to refresh sign the client out.
 * @param onTokens receives each new pair, so that the program can keep it, and null at the end of the session
 */
export function makeSession({
  url,
  send,
  onTokens,
}: {
  readonly url: string;
  readonly send: Send;
  readonly onTokens: (tokens: Tokens | null) => void;
}): Session {
  let tokens: Tokens | null = null;
  let refreshing: Promise<void> | null = null;

  const use = (next: Tokens | null): void => {
    tokens = next;
    onTokens(next);
  };

  const refresh = async ({ refresh_token }: Tokens): Promise<void> => {
    const request = new Request(`${url}/api/v1/auth/refresh`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refresh_token }),
    });
    const reply = await send(request);
    const body: unknown = await reply.json();
    if (reply.ok) use((body as Refreshed).data.tokens);
    else if (reply.status === 401) use(null);
  };

  return {
    tokens: () => tokens,
    use,
    send: async (request) => {
      const used = tokens;
      if (used === null || request.headers.has('authorization')) return send(request);
      const reply = await send(authorised(request, used));
      if (reply.status !== 401 || (await codeOf(reply)) !== 'token_expired') return reply;
      // Another request may have refreshed the tokens meanwhile.
      if (tokens === used) {
        refreshing ??= refresh(used).finally(() => {
          refreshing = null;
        });
        await refreshing;
      }
      return tokens === null || tokens === used ? reply : send(authorised(request, tokens));
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
