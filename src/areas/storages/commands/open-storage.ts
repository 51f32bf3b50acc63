import type { ProjectDeps } from '../../projects/deps.js';
import { bucketAddress } from '../domain/bucket/bucket-address.js';
import { credentialKeys } from '../domain/bucket/connection.js';
import {
  type ExistingStorage,
  storageAggregate,
  type StorageCredentials,
  type StoredCdnToken,
} from '../domain/storage/storage.js';
import { projectAggregate } from '../../projects/domain/project/project.js';
import type { MakeStorageUrls, StorageUrls } from '../bucket/signing/media-urls.js';
import { cdnTokenKeyNames } from '../domain/delivery/delivery.js';
import type { CdnToken } from '../bucket/signing/cdn-token.js';
import { erased, type LastingScope } from '../../../keys/sealing/sealer.js';

/** A storage with opened credentials, which sign. Do not keep it longer than one request or one test: the next one asks again. */
export type OpenedStorage = { readonly storage: ExistingStorage; readonly urls: StorageUrls };

export type OpenStorage = ReturnType<typeof makeOpenStorage>;

export function makeOpenStorage(
  deps: Pick<ProjectDeps, 'handler' | 'sealer'> & { readonly makeUrls: MakeStorageUrls },
) {
  const { handler, sealer, makeUrls } = deps;
  const accountOf = (projectId: string) => accountOfProject(handler, projectId);
  // It goes with the state, which the bounded cache of folded streams keeps. The signers take about as much as the state.
  const kept = new WeakMap<ExistingStorage, OpenedStorage>();
  return {
    /**
     * Opens a storage; null when it does not exist. It stays open while its state is the same. The keys of its credentials are
     * destroyed only after an event that changes the state. @throws StoreUnavailable; the errors of `Sealer.open`
     */
    serving: async (storageId: string) => {
      const { state } = await handler.load(storageAggregate, storageId);
      if (state.status === 'absent' || state.status === 'deleted') return null;
      const known = kept.get(state);
      if (known !== undefined) return known;
      const opened = await open(storageId, state, state.credentials);
      if (opened !== null) kept.set(state, opened);
      return opened;
    },
    /** Opens a storage with the values of the candidate that the test is of; null when the test is over. */
    tested: async (storageId: string, testId: string) => {
      const { state } = await handler.load(storageAggregate, storageId);
      if (state.status === 'absent' || state.status === 'deleted') return null;
      if (state.test?.id !== testId) return null;
      const { candidate } = state;
      if (candidate === null) return open(storageId, state, state.credentials);
      const { credentials, ...values } = candidate;
      const configuration = { ...state.configuration, ...values };
      return open(storageId, { ...state, configuration }, credentials ?? state.credentials);
    },
  };

  async function open(
    storageId: string,
    storage: ExistingStorage,
    credentials: StorageCredentials,
  ): Promise<OpenedStorage | null> {
    const { projectId, configuration, delivery } = storage;
    const { version, sealed } = credentials;
    const scope = { kind: 'storage-credentials', projectId, storageId, version } as const;
    const opened = await openAll(scope, credentialKeys[configuration.provider], sealed);
    const cdnToken = await openToken({ projectId, storageId }, storage.cdnToken);
    if (opened === null || cdnToken === erased) return null;
    const [id = '', secret = ''] = opened.values();
    const { cdn_domain: cdnDomain } = configuration;
    const address = { ...bucketAddress(configuration), cdnDomain, mode: delivery, cdnToken };
    const urls = { ...makeUrls(address, { id, secret }), account: () => accountOf(projectId) };
    return { storage, urls };
  }

  async function openToken(
    place: { readonly projectId: string; readonly storageId: string },
    token: StoredCdnToken | null,
  ): Promise<CdnToken | null | typeof erased> {
    if (token === null) return null;
    const { scheme, validSeconds, credentials } = token;
    const { version, sealed } = credentials;
    const scope = { kind: 'storage-credentials', ...place, version } as const;
    const keys = await openAll(scope, cdnTokenKeyNames(scheme), sealed);
    return keys === null ? erased : { scheme, validSeconds, keys };
  }

  /** Opens values in the order of their names; null where their key is destroyed. */
  async function openAll(
    scope: LastingScope,
    names: readonly string[],
    sealed: StorageCredentials['sealed'],
  ): Promise<ReadonlyMap<string, string> | null> {
    const opened = new Map<string, string>();
    for (const name of names) {
      const value = sealed[name];
      if (value === undefined) throw new Error(`the storage has no ${name}`);
      const text = await sealer.open(scope, name, value);
      if (text === erased) return null;
      opened.set(name, text);
    }
    return opened;
  }
}

/** Look-ups and effects count for the payer: one person may have many projects. A project that is gone counts by itself. */
async function accountOfProject(handler: Loads, projectId: string): Promise<string> {
  const { state } = await handler.load(projectAggregate, projectId, 'remembered');
  return state.status === 'existing' ? state.billed_to : projectId;
}

/** Returns the account that the calls to the bucket of a storage count for; of an unknown one its id. */
export async function accountOfStorage(handler: Loads, storageId: string): Promise<string> {
  const { state } = await handler.load(storageAggregate, storageId);
  return state.status === 'absent' ? storageId : accountOfProject(handler, state.projectId);
}

type Loads = Pick<ProjectDeps['handler'], 'load'>;
