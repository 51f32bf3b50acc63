import { makeAccountByAddress } from '../commands/account-by-address.js';
import { makeAddNode } from '../commands/add-node.js';
import { makeAddressReservations } from '../commands/address-reservations.js';
import type { Background } from '../commands/background.js';
import { makeChangeNode } from '../commands/change-node.js';
import { makeFindAccount } from '../commands/find-account.js';
import type { CallbackNotices } from '../commands/receive-payment-callback.js';
import type { PaymentProviders } from '../integrations/payments/payment-providers.js';
import { makeRegister } from '../commands/register.js';
import { makeRemoveNode } from '../commands/remove-node.js';
import { makeStartSession } from '../commands/start-session.js';
import type { Config } from '../config.js';
import type { Clock } from '../event-sourcing/clock.js';
import type { CommandHandler } from '../event-sourcing/command-handler.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import { limitsFrom } from '../http/limits.js';
import type { Digests } from '../keys/digests.js';
import type { MailedCodes } from '../keys/login-codes.js';
import type { RandomBytes } from '../keys/random-bytes.js';
import type { RefreshTokens } from '../keys/refresh-tokens.js';
import type { Sealer } from '../keys/sealer.js';
import type { ShareSessions } from '../keys/share-sessions.js';
import type { AccessTokens } from '../security/access-tokens.js';
import { makeCheckPassword } from '../security/password-rules.js';
import type { Passwords } from '../security/passwords.js';
import type { SharePasswords } from '../security/share-passwords.js';
import { makeAccountCommands } from './account-commands.js';
import { makeAssetCommands } from './asset-commands.js';
import { makeOrderCommands } from './order-commands.js';
import { makeProjectCommands } from './project-commands.js';
import type { Readers } from './readers.js';
import { makeSessionCommands } from './session-commands.js';
import { makeShareCommands } from './share-commands.js';
import { makeStorageCommands } from './storage-commands.js';

/** Every use case. */
export type Commands = ReturnType<typeof makeCommands>;

/** Puts the use cases together. */
export function makeCommands(
  deps: {
    readonly config: Config;
    readonly clock: Clock;
    readonly handler: CommandHandler;
    readonly stateStore: StateStore;
    readonly randomBytes: RandomBytes;
    readonly readers: Readers;
    readonly sealer: Sealer;
    readonly digests: Digests;
    readonly passwords: Passwords;
    readonly sharePasswords: SharePasswords;
    readonly shareSessions: ShareSessions;
    readonly accessTokens: AccessTokens;
    readonly refreshTokens: RefreshTokens;
    readonly loginCodes: MailedCodes;
    readonly addressChangeCodes: MailedCodes;
    readonly background: Background;
    readonly paymentProviders: PaymentProviders;
  } & CallbackNotices,
) {
  const { config, readers } = deps;
  const { nodes, users } = readers;
  const reservations = makeAddressReservations(deps);
  const findAccount = makeFindAccount(deps);
  const accountByAddress = makeAccountByAddress({ ...deps, findAccount });
  const checkPassword = makeCheckPassword(config.passwordExtraChecks);
  const startSession = makeStartSession(deps);
  return {
    reservations,
    register: makeRegister({
      ...deps,
      reservations,
      users,
      startSession,
      checkPassword,
      defaultCapacityBytes: config.defaultCapacityBytes,
    }),
    ...makeAccountCommands({
      ...deps,
      reservations,
      accountByAddress,
      mailConfigured: config.mailConfigured,
    }),
    ...makeSessionCommands({ ...deps, users, findAccount, startSession, checkPassword }),
    ...makeProjectCommands({
      ...deps,
      findAccount,
      mailConfigured: config.mailConfigured,
      invitationLimits: limitsFrom(config.limits),
    }),
    ...makeStorageCommands(deps),
    ...makeAssetCommands(deps),
    ...makeShareCommands(deps),
    ...makeOrderCommands({ ...deps, plans: config.plans, providers: deps.paymentProviders }),
    addNode: makeAddNode({ ...deps, nodes }),
    changeNode: makeChangeNode({ ...deps, nodes }),
    removeNode: makeRemoveNode(deps),
  };
}
