import type { IncomingMessage } from 'node:http';
import type { ApiKeyCaller, SessionCaller } from './access.js';
import { HttpError } from './http-error.js';

/** The token of `Authorization: Bearer …`; null when the header is absent. @throws HttpError 401 for another scheme */
export function bearerToken(request: IncomingMessage): string | null {
  const header = request.headers.authorization;
  if (header === undefined) return null;
  const token = /^bearer +(?<token>[\w~+/.-]+=*) *$/i.exec(header)?.groups?.['token'];
  if (token === undefined) throw unauthorized('Authorization: a Bearer token is expected');
  return token;
}

/** The key of `X-API-Key`; null when the header is absent. An empty one is present, and bad. */
export function presentedApiKey(request: IncomingMessage): string | null {
  return onlyValue(request.headers['x-api-key']);
}

/** The secret of `X-Agent-Secret`; null when the header is absent. */
export function presentedAgentSecret(request: IncomingMessage): string | null {
  return onlyValue(request.headers['x-agent-secret']);
}

/** Node joins a repeated header with commas, so a secret given twice is a secret that does not match. */
function onlyValue(header: string | string[] | undefined): string | null {
  return header === undefined ? null : String(header);
}

/** The caller as somebody who is signed in. @throws HttpError 403 for an API key */
export function refuseKey(caller: SessionCaller | ApiKeyCaller): SessionCaller {
  if (caller.kind === 'session') return caller;
  throw new HttpError('api_key_not_allowed', 'this cannot be done with an API key; sign in');
}

/** 401 with the challenge that RFC 6750 asks for. */
export function unauthorized(
  message: string,
  code: 'unauthorized' | 'invalid_token' | 'token_expired' = 'unauthorized',
): HttpError {
  const challenge = code === 'unauthorized' ? 'Bearer' : `Bearer error="invalid_token"`;
  return new HttpError(code, message, { headers: { 'www-authenticate': challenge } });
}
