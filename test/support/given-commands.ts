import { randomBytes } from 'node:crypto';
import { makeAccountByAddress } from '../../src/commands/account-by-address.js';
import { makeAddNode } from '../../src/commands/add-node.js';
import { makeAddressReservations } from '../../src/commands/address-reservations.js';
import { makeBackground } from '../../src/commands/background.js';
import { makeChangeNode } from '../../src/commands/change-node.js';
import { makeFindAccount } from '../../src/commands/find-account.js';
import { makeRegister } from '../../src/commands/register.js';
import { makeRemoveNode } from '../../src/commands/remove-node.js';
import { makeStartSession } from '../../src/commands/start-session.js';
import { makeAccountCommands } from '../../src/composition/account-commands.js';
import { makeReaders } from '../../src/composition/readers.js';
import { makeSessionCommands } from '../../src/composition/session-commands.js';
import { makeAssetCommands } from '../../src/composition/asset-commands.js';
import { makeOrderCommands } from '../../src/composition/order-commands.js';
import { builtInPlans } from '../../src/domain/order/plans.js';
import { makeProjectCommands } from '../../src/composition/project-commands.js';
import { makeShareCommands } from '../../src/composition/share-commands.js';
import { makeStorageCommands } from '../../src/composition/storage-commands.js';
import type { Limits } from '../../src/config.js';
import { limitsFrom } from '../../src/http/limits.js';
import type { Clock } from '../../src/event-sourcing/clock.js';
import { makeKeyring } from '../../src/keys/keyring.js';
import { makeAddressChangeCodes, makeLoginCodes } from '../../src/keys/login-codes.js';
import { makeRefreshTokens } from '../../src/keys/refresh-tokens.js';
import { makeShareSessions } from '../../src/keys/share-sessions.js';
import { makeAccessTokens } from '../../src/security/access-tokens.js';
import { makePasswords } from '../../src/security/passwords.js';
import { makeCheckPassword } from '../../src/security/password-rules.js';
import { makeSharePasswords } from '../../src/security/share-passwords.js';
import { nativeScrypt, type ScryptInput, type ScryptParameters } from '../../src/security/scrypt.js';
import type { PaymentProviders } from '../../src/integrations/payments/payment-providers.js';
import type { GivenStores } from './given-stores.js';
import { allTestPaymentProviders } from './test-payment-provider.js';

export const defaultCapacityBytes = 1_073_741_824;

export interface PasswordOptions {
  /** The cheapest when left out. */
  readonly parameters?: ScryptParameters;
  /** Key ids, the active one first. */
  readonly peppers?: readonly string[];
  readonly onHash?: (input: ScryptInput) => void;
  /** Whether the pool would take a hash; always when left out. */
  readonly hasRoom?: () => boolean;
}

/** Every use case and reader over the given stores; all of it real, but password hashes are cheap. */
export function givenCommands(
  stores: GivenStores,
  {
    mailConfigured = true,
    limits = {},
    paymentProviders = allTestPaymentProviders(),
    callbackSleep = () => new Promise(() => undefined),
    ...passwordOptions
  }: PasswordOptions & {
    readonly mailConfigured?: boolean;
    readonly paymentProviders?: PaymentProviders;
    /** The defaults where left out. */
    readonly limits?: Limits;
    /** What the limits of payment callbacks wait with; it never ends when left out. */
    readonly callbackSleep?: Clock['sleep'];
  } = {},
) {
  const { handler, clock, sealer, digests } = stores;
  const shareUrlTemplate = 'http://127.0.0.1:8080/s/{token}';
  const readers = makeReaders(stores.views, sealer, { shareUrlTemplate });
  const {
    parameters = { N: 2, r: 1, p: 1 },
    peppers = ['p1'],
    onHash,
    hasRoom = () => true,
  } = passwordOptions;
  const hashing = {
    peppers: makeKeyring(peppers.map((kid) => ({ kid, key: Buffer.alloc(32, kid) }))),
    pool: {
      hash: (input: ScryptInput) => {
        onHash?.(input);
        return Promise.resolve(Buffer.from(nativeScrypt(input)));
      },
      hasRoom,
      close: () => Promise.resolve(),
    },
    randomBytes: (size: number) => Buffer.alloc(size, 4),
    parameters,
  };
  const passwords = makePasswords(hashing);
  const refreshKeys = makeKeyring([{ kid: 'r1', key: Buffer.alloc(32, 5) }]);
  const refreshTokens = makeRefreshTokens(refreshKeys);
  const accessTokens = makeAccessTokens({
    keys: makeKeyring([{ kid: 'j1', key: Buffer.alloc(32, 6) }]),
    issuer: 'http://127.0.0.1:8080',
    clock,
    makeId: () => 'a token id',
  });
  const reservations = makeAddressReservations({ handler, clock });
  const findAccount = makeFindAccount({ handler });
  const accountByAddress = makeAccountByAddress({ findAccount, digests });
  const startSession = makeStartSession({ handler, sealer, digests, refreshTokens, accessTokens });
  const checkPassword = makeCheckPassword(['local-part', 'common']);
  const codeKeys = makeKeyring([{ kid: 'c1', key: Buffer.alloc(32, 7) }]);
  const [loginCodes, addressChangeCodes] = [makeLoginCodes(codeKeys), makeAddressChangeCodes(codeKeys)];
  const failures: unknown[] = [];
  /** What was told of payment callbacks. */
  const notices: string[] = [];
  const onFailure = (_: string, error: unknown): void => void failures.push(error);
  const background = makeBackground({ onFailure });
  return {
    ...readers,
    loginCodes,
    addressChangeCodes,
    background,
    /** What was told to have failed beside an answer. */
    failures,
    passwords,
    refreshTokens,
    accessTokens,
    reservations,
    findAccount,
    startSession,
    register: makeRegister({
      ...{ handler, reservations, sealer, digests, passwords, startSession, defaultCapacityBytes },
      users: readers.users,
      checkPassword,
    }),
    ...makeSessionCommands({
      ...stores,
      ...{ accessTokens, refreshTokens, passwords, startSession, users: readers.users },
      ...{ findAccount, loginCodes, background, checkPassword, onFailure },
    }),
    ...makeProjectCommands({
      ...{ ...stores, readers, findAccount, randomBytes, mailConfigured },
      invitationLimits: limitsFrom(limits),
    }),
    ...makeAccountCommands({
      ...stores,
      ...{
        readers,
        reservations,
        accountByAddress,
        accessTokens,
        refreshTokens,
        addressChangeCodes,
        mailConfigured,
      },
    }),
    ...makeStorageCommands({
      ...{ handler, sealer, clock, readers, stateStore: stores.stateStore },
      config: { storageAllowedCidrs: ['10.0.0.0/8', 'fd00::/8'] },
    }),
    ...makeShareCommands({
      ...stores,
      ...{ readers, background, onFailure },
      sharePasswords: makeSharePasswords(hashing),
      shareSessions: makeShareSessions(refreshKeys),
    }),
    ...makeAssetCommands({ handler, sealer, clock, readers }),
    paymentProviders,
    notices,
    ...makeOrderCommands({
      ...{ ...stores, readers, plans: builtInPlans, providers: paymentProviders, onFailure },
      // Its limits are real time: the test's clock would let them pass at once.
      clock: { ...clock, sleep: callbackSleep },
      onRefused: (provider, reason) => void notices.push(`refused ${provider} ${reason}`),
      onConflict: (callback) => void notices.push(`conflict ${callback}`),
    }),
    addNode: makeAddNode({ handler, nodes: readers.nodes }),
    changeNode: makeChangeNode({ handler, nodes: readers.nodes }),
    removeNode: makeRemoveNode({ handler }),
  };
}
