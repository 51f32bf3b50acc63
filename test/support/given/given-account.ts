import { givenCommands, type PasswordOptions } from './given-commands.js';
import { givenContext, givenStores } from './given-stores.js';

export const credentials = { email: 'ada@example.com', password: 'Correct-Horse-7' };
export const client = { client: { ip: '192.0.2.1', known: null }, userAgent: null };

/** Makes the commands over stores in memory, with the context of a new command at each call of `next`. */
export async function givenNext(
  storeOptions: Parameters<typeof givenStores>[0] = {},
  commandOptions: Parameters<typeof givenCommands>[1] = {},
) {
  const stores = await givenStores(storeOptions);
  let asked = 0;
  return {
    ...givenCommands(stores, commandOptions),
    stores,
    next: () => givenContext((asked += 1), stores.clock.now()),
  };
}

/** Registers Ada, who has a session then. */
export async function givenAccount(
  storeOptions: Parameters<typeof givenStores>[0] = {},
  passwords: PasswordOptions = {},
  profile: { readonly email?: string } = {},
) {
  const commands = await givenNext(storeOptions, passwords);
  const { register, refreshTokens, stores } = commands;
  const input = { ...credentials, ...client, ...profile };
  const { user, tokens } = await register(input, commands.next());
  const sessionOf = (token: string) => refreshTokens.verify(token)?.sessionId ?? '';
  return {
    ...{ ...commands, user, userId: user.id, sessionOf, first: tokens.refresh_token },
    sessionId: sessionOf(tokens.refresh_token),
    digest: stores.digests.email(input.email),
  };
}
