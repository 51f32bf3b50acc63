// The service loads the library at the first passkey. On a busy machine that may outlast the limit of a request.
import '@simplewebauthn/server';
import '@simplewebauthn/server/helpers';
import type { Answer } from './http-app.js';
import { asObject, textOf } from './service-client.js';
import type { Deviations, SoftwareAuthenticator } from '../fakes/software-authenticator.js';
import type { TestService } from '../servers/http-service.js';

const path = '/api/v1/auth/passkeys';

const places = {
  register: 'passkey-options',
  login: 'passkey-login/options',
  reauthenticate: 'reauthenticate/options',
} as const;

type Headers = Readonly<Record<string, string>>;

/** Returns `data` of a wrapped reply. */
export function answered({ json }: Pick<Answer, 'json'>) {
  return asObject(asObject(json)['data']);
}

/** The options that the service gives for `navigator.credentials`. */
export async function optionsOf(
  service: Pick<TestService, 'post'>,
  way: 'register' | 'login' | 'reauthenticate',
  headers: Headers = {},
) {
  const answer = await service.post(`/api/v1/auth/${places[way]}`, {}, headers);
  const publicKey = asObject(answered(answer)['publicKey']);
  const part = (name: string, field: string) => ({ [field]: textOf(asObject(publicKey[name] ?? {}), field) });
  return {
    challenge: textOf(publicKey, 'challenge'),
    rpId: way === 'register' ? '' : textOf(publicKey, 'rpId'),
    rp: { id: way === 'register' ? (part('rp', 'id')['id'] ?? '') : '' },
    user: { id: way === 'register' ? (part('user', 'id')['id'] ?? '') : '' },
  };
}

/** Registers a new passkey of the authenticator for a session. */
export async function registerPasskey(
  service: Pick<TestService, 'post'>,
  authenticator: SoftwareAuthenticator,
  session: Headers,
  { name, ...deviations }: Deviations & { readonly name?: string } = {},
): Promise<Answer> {
  const credential = authenticator.create(await optionsOf(service, 'register', session), deviations);
  return service.post(path, { credential, ...(name === undefined ? {} : { name }) }, session);
}

/** Proves the last passkey of the authenticator in a session, which has passed the strongest factor then. */
export async function provePasskey(
  service: Pick<TestService, 'post'>,
  authenticator: SoftwareAuthenticator,
  session: Headers,
): Promise<Answer> {
  const passkey = authenticator.get(await optionsOf(service, 'reauthenticate', session));
  return service.post('/api/v1/auth/reauthenticate', { passkey }, session);
}

/** Signs in by the last passkey of the authenticator. */
export async function loginByPasskey(
  service: Pick<TestService, 'post'>,
  authenticator: SoftwareAuthenticator,
  deviations: Deviations = {},
): Promise<Answer> {
  const credential = authenticator.get(await optionsOf(service, 'login'), deviations);
  return service.post('/api/v1/auth/passkey-login', { credential });
}

/** Returns the headers of the session that a sign-in has begun. */
export function sessionOf(answer: Pick<Answer, 'json'>): { readonly authorization: string } {
  return { authorization: `Bearer ${textOf(asObject(answered(answer)['tokens']), 'access_token')}` };
}
