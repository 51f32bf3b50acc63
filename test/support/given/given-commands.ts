import { type Deps, makeCommands } from '../../../src/areas/commands.js';
import { randomBytes } from 'node:crypto';
import type { CommandContext } from '../../../src/event-sourcing/ports/command-context.js';
import { projectNotFound } from '../../../src/areas/projects/domain/project/rejections.js';
import { makeViewLags } from '../../../src/event-sourcing/views/views.js';
import { makeBackground } from '../../../src/kit/background.js';
import { makeFindAccount } from '../../../src/areas/accounts/commands/finding.js';
import type { SessionIds } from '../../../projections/projects/projects/reader.js';
import { makeReaders, type Readers } from '../../../projections/readers.js';
import { definedOf } from '../../../src/validation/fields.js';
import { makeOrderCommands } from '../../../src/areas/payments/commands/index.js';
import { type Plan, builtInPlans } from '../../../src/areas/payments/domain/order/plans.js';
import { makeOpenStorage } from '../../../src/areas/storages/commands/open-storage.js';
import { makeStorageUrls } from '../../../src/areas/storages/bucket/signing/media-urls.js';
import type { Limits } from '../../../src/config/config.js';
import { limitsFrom } from '../../../src/security/rates/limits.js';
import type { Clock } from '../../../src/kit/time/clock.js';
import { makeKeyring } from '../../../src/keys/rings/keyring.js';
import { makeMailedCodes } from '../../../src/keys/codes/login-codes.js';
import {
  makeDeviceTokens,
  makePlaylistTokens,
  makeShareSessions,
} from '../../../src/keys/codes/mac-tokens.js';
import { makePasskeyChallenges } from '../../../src/keys/codes/passkey-challenges.js';
import { makeRefreshTokens } from '../../../src/keys/codes/refresh-tokens.js';
import { makeAccessTokens } from '../../../src/security/tokens/access-tokens.js';
import { makePasswords } from '../../../src/security/passwords/passwords.js';
import { type ExtraCheck, makeCheckPassword } from '../../../src/security/passwords/password-rules.js';
import {
  nativeScrypt,
  type ScryptInput,
  type ScryptParameters,
} from '../../../src/security/passwords/scrypt.js';
import type { PaymentMakers, PaymentProviders } from '../../../src/areas/payments/platforms/configured.js';
import type { GivenStores } from './given-stores.js';
import { allTestPaymentProviders } from '../fakes/test-payment-provider.js';

export const defaultCapacityBytes = 1_073_741_824;

export interface PasswordOptions {
  /** Default: all. */
  readonly extraChecks?: readonly ExtraCheck[];
  /** Default: the cheapest parameters. */
  readonly parameters?: ScryptParameters;
  /** Key ids; the active one comes first. */
  readonly peppers?: readonly string[];
  readonly onHash?: (input: ScryptInput) => void;
  /** Tells whether the pool has room for a hash; default: always. */
  readonly hasRoom?: () => boolean;
}

/** Makes every command and reader over the given stores. All are real, with cheap password hashes. */
export function givenCommands(
  stores: GivenStores,
  {
    mailConfigured = true,
    limits = {},
    paymentProviders = allTestPaymentProviders(),
    paymentMakers = new Map(),
    plans,
    callbackSleep = () => new Promise(() => undefined),
    buckets = {},
    ...passwordOptions
  }: PasswordOptions & {
    readonly mailConfigured?: boolean;
    readonly cannotMail?: (address: string) => Promise<boolean>;
    readonly paymentProviders?: PaymentProviders;
    readonly paymentMakers?: PaymentMakers;
    readonly plans?: readonly Plan[];
    /** The answers of buckets; the default ones are empty, and do not answer to uploads in parts. */
    readonly buckets?: Partial<BucketCalls>;
    /** Default: the service's limits. */
    readonly limits?: Limits;
    /** Waits for the limits of payment callbacks; the default never ends. */
    readonly callbackSleep?: Clock['sleep'];
  } = {},
) {
  const { clock, sealer, stateStore } = stores;
  const shareUrlTemplate = 'http://127.0.0.1:8080/s/{token}';
  const readers = askable(makeReaders(stores.views, sealer, { shareUrlTemplate, clock, stateStore }));
  const {
    parameters = { N: 2, r: 1, p: 1 },
    peppers = ['p1'],
    onHash,
    extraChecks = ['local-part', 'common'],
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
  const findAccount = makeFindAccount(stores);
  const checkPassword = makeCheckPassword(extraChecks);
  const codeKeys = makeKeyring([{ kid: 'c1', key: Buffer.alloc(32, 7) }]);
  const mailedCodes = makeMailedCodes(codeKeys);
  const failures: unknown[] = [];
  /** The notices about payment callbacks. */
  const notices: string[] = [];
  const onFailure = (_: string, error: unknown): void => void failures.push(error);
  const background = makeBackground({ onFailure });
  const deps = {
    ...{ ...stores, ...readers, randomBytes, onFailure, background },
    ...{ ...mailedCodes, passwords, checkPassword, accessTokens, refreshTokens },
    ...{ paymentProviders, paymentMakers, plans: builtInPlans, mailConfigured, defaultCapacityBytes },
    ...definedOf({ plans }),
    passkeys: { rpId: 'example.org', origins: ['https://example.org', 'https://app.example.org'] },
    deviceTokens: makeDeviceTokens(refreshKeys),
    passkeyChallenges: makePasskeyChallenges(codeKeys, randomBytes),
    sharePasswords: makePasswords(hashing),
    shareSessions: makeShareSessions(refreshKeys),
    playlistTokens: makePlaylistTokens(refreshKeys),
    publicUrl: 'http://127.0.0.1:8080',
    openStorage: makeOpenStorage({ ...stores, makeUrls: makeStorageUrls }),
    probe: () => Promise.resolve({ failure: null, warnings: [] }),
    setBucketCors: () => Promise.resolve({ isChanged: false, refused: [] }),
    browserOrigins: ['https://stowage.example.com'],
    viewLags: makeViewLags(),
    ...{ cannotMail: () => Promise.resolve(false), ...passwordOptions },
    ...emptyBuckets,
    ...buckets,
    invitationLimits: limitsFrom(limits),
    shareMailLimits: limitsFrom(limits),
    verificationLimits: limitsFrom(limits),
    storageAllowedCidrs: ['10.0.0.0/8', 'fd00::/8'],
    onRefused: (provider: string, reason: string) => void notices.push(`refused ${provider} ${reason}`),
    onConflict: (callback: string) => void notices.push(`conflict ${callback}`),
  };
  // A page of an import ends at its time. The test's machine may be slow.
  const { addAsset, createStorage, ...commands } = makeCommands({ importMs: 600_000, ...deps });
  const projectOf = async (id: string) => (await readers.projects.access(id)) ?? projectNotFound();
  return {
    ...deps,
    /** The reported failures of work beside an answer. */
    failures,
    notices,
    findAccount,
    ...commands,
    /** Those that routes call with the project of the gate. */
    ofRoutes: { addAsset, createStorage },
    // Tests name the project. The service passes what its gate has read.
    addAsset: async ({ projectId, ...input }: Of<Parameters<typeof addAsset>[0]>, context: CommandContext) =>
      addAsset({ ...input, project: await projectOf(projectId) }, context),
    createStorage: async (
      { projectId, ...input }: Of<Parameters<typeof createStorage>[0]>,
      context: CommandContext,
    ) => createStorage({ ...input, project: await projectOf(projectId) }, context),
    // The limits of callbacks are real time. The test's clock would let them pass at once.
    ...makeOrderCommands({ ...deps, clock: { ...clock, sleep: callbackSleep } }),
  };
}

/** The calls of the service to buckets, and how long an import may take. */
export type BucketCalls = Pick<
  Deps,
  'headObject' | 'multipart' | 'listObjects' | 'deleteObject' | 'readObject' | 'importMs'
>;

const noAnswer = () => Promise.resolve({ failure: 'away' } as const);
const emptyBuckets: BucketCalls = {
  headObject: () => Promise.resolve({ kind: 'missing' }),
  multipart: { start: noAnswer, listParts: noAnswer, complete: noAnswer, abort: noAnswer },
  listObjects: () => Promise.resolve({ kind: 'listed', objects: [], next: null }),
  deleteObject: () => Promise.resolve('deleted'),
  readObject: () => Promise.resolve('missing'),
};

const nobody = '00000000-0000-0000-0000-000000000000';

/** What a test gives to a command in a project. */
type Of<Input> = Omit<Input, 'project'> & { readonly projectId: string };

/** Adds the questions that tests ask of one document. The service asks them of documents that its gate has read. */
function askable(readers: Readers) {
  const { access, sessions, users, projects } = readers;
  const read = (ids: Partial<SessionIds>) =>
    access.session({ sessionId: nobody, userId: nobody, projectId: null, ...ids });
  return {
    ...readers,
    sessions: {
      ...sessions,
      access: async (sessionId: string) => (await read({ sessionId })).session,
    },
    users: { ...users, access: async (userId: string) => (await read({ userId })).user },
    projects: {
      ...projects,
      find: async (projectId: string, userId: string) => {
        const { project } = await read({ projectId });
        return project === null ? null : projects.present(project, userId);
      },
    },
  };
}
