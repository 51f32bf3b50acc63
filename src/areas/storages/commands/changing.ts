import {
  type Handled,
  type HandleOptions,
  requireRevision,
  derivedId,
} from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { invalid } from '../../../validation/field-problems.js';
import type { StorageResource } from '../../../../projections/storages/storage-configs/resource.js';
import { projectAggregate } from '../../projects/domain/project/project.js';
import type { StorageDeps } from '../deps.js';
import { checkCredentials } from '../domain/bucket/connection.js';
import { describeCorsRefusal } from '../domain/delivery/test-failure.js';
import { corsRuleFields } from '../domain/delivery/cors-rule.js';
import { type CdnTokenScheme, checkCdnTokenKeys, type DeliveryMode } from '../domain/delivery/delivery.js';
import {
  checkConfiguration,
  type StorageConfiguration,
  awaitsTest,
  existingStorage,
  storageAggregate,
  type StorageCommand,
} from '../domain/storage/storage.js';
import type { StorageEvent } from '../domain/storage/events.js';
import { rejectStorage, storageNotFound } from '../domain/storage/rejections.js';
import type { SealCredentials } from './create-storage.js';

export type StorageAddress = { readonly projectId: string; readonly storageId: string };

/** A storage after a change. `isTested`: the change takes effect after a test (202). */
export interface StorageChange extends Versioned<StorageResource> {
  readonly isTested: boolean;
}

interface CdnTokenInput {
  readonly scheme: CdnTokenScheme;
  readonly validSeconds: number;
  readonly keys: Readonly<Record<string, string>>;
}

/** The revision of the storage that the caller has read. */
type Options = Pick<HandleOptions, 'expectedRevision'>;
type Switch = (
  input: StorageAddress,
  context: CommandContext,
  options?: Options,
) => Promise<Versioned<StorageResource>>;

/** The time in ms for all requests about CORS rules, within the 15 s of a request to this service. */
const corsMs = 10_000;

/** Makes the use cases that change a storage. Each throws CommandRejected storage_not_found; PreconditionFailed. */
export function makeChanging(
  deps: StorageDeps & {
    /** See `makeAllowsHttp`. */
    readonly allowsHttp: (host: string) => boolean;
    readonly sealCredentials: SealCredentials;
  },
) {
  const { handler, storages, allowsHttp, sealCredentials } = deps;
  const { openStorage, setBucketCors, browserOrigins: origins } = deps;
  const handle = (storageId: string, command: StorageCommand, context: CommandContext, options?: Options) =>
    handler.handle(storageAggregate.at(storageId), command, context, options);
  const after = async ({ events, documents }: Handled<StorageEvent>): Promise<StorageChange> => ({
    ...(await storages.after(documents)),
    isTested: awaitsTest(events),
  });
  const load = async ({ projectId, storageId }: StorageAddress) => {
    const { state, revision } = await handler.load(storageAggregate, storageId);
    return { storage: existingStorage(state, projectId), revision };
  };
  /** Seals as the next version of the storage's credentials. */
  const seal = async (address: StorageAddress, version: number, clear: ReadonlyMap<string, string>) => ({
    version,
    sealed: await sealCredentials({ ...address, version }, clear),
  });
  const testStorage: Switch = async ({ projectId, storageId }, context, options) => {
    const command = { type: 'StartTest', projectId, testId: derivedId(context, 'test') } as const;
    return after(await handle(storageId, command, context, options));
  };
  const switching =
    (type: 'Disable' | 'Enable'): Switch =>
    async ({ projectId, storageId }, context, options) =>
      after(await handle(storageId, { type, projectId }, context, options));
  return {
    /** Starts a test of the present configuration. @throws CommandRejected storage_disabled, storage_test_running */
    testStorage,
    /** Disables a storage in any state; it serves nothing from then on. */
    disableStorage: switching('Disable'),
    /** Makes a disabled storage pending until it passes a test. */
    enableStorage: switching('Enable'),
    /**
     * Changes the given fields. A new connection of an active storage takes effect after a test, together with the other
     * given fields. All other changes apply at once (src/areas/storages/README.md#storage-changes).
     * @throws CommandRejected invalid_request, storage_test_running
     */
    changeStorage: async (
      input: StorageAddress & {
        readonly changes: {
          readonly [Field in keyof Omit<StorageConfiguration, 'provider'>]?: string | undefined;
        };
      },
      context: CommandContext,
      options?: Options,
    ): Promise<StorageChange> => {
      const { projectId, storageId, changes } = input;
      const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      const change = (present: StorageConfiguration) =>
        checkConfiguration({ ...present, ...given }, allowsHttp, present);
      const command = { type: 'Change', projectId, change, testId: derivedId(context, 'test') } as const;
      return after(await handle(storageId, command, context, options));
    },
    /**
     * Replaces the credentials. An active storage uses the old ones until the new ones pass a test.
     * @throws CommandRejected invalid_request, storage_test_running, storage_credentials_replaced
     */
    replaceStorageCredentials: async (
      input: StorageAddress & { readonly credentials: Readonly<Record<string, string>> },
      context: CommandContext,
      options?: Options,
    ): Promise<StorageChange> => {
      const { credentials: given, ...address } = input;
      const { configuration, credentialsVersionMax } = (await load(address)).storage;
      const clear = checkCredentials(configuration.provider, given);
      const credentials = await seal(address, credentialsVersionMax + 1, clear);
      const { projectId, storageId } = address;
      const testId = derivedId(context, 'test');
      const command = { type: 'ReplaceCredentials', projectId, credentials, testId } as const;
      return after(await handle(storageId, command, context, options));
    },
    /**
     * Changes how media URLs use the storage's domain. The keys of a token are sealed like credentials, in the same count of
     * versions.
     * @throws CommandRejected invalid_request, storage_credentials_replaced
     */
    changeDelivery: async (
      input: StorageAddress & {
        readonly mode: DeliveryMode;
        /** Of the mode `token`, and of no other. */
        readonly token: CdnTokenInput | null;
      },
      context: CommandContext,
      options?: Options,
    ): Promise<Versioned<StorageResource>> => {
      const { mode, token, ...address } = input;
      if ((mode === 'token') !== (token !== null)) {
        const problem = token === null ? 'missing' : 'not_allowed';
        invalid('token', 'must be given for the mode token, and only then', problem);
      }
      const { projectId, storageId } = address;
      const command = { type: 'ChangeDelivery', projectId, mode, token: await stored() } as const;
      return after(await handle(storageId, command, context, options));

      async function stored() {
        if (token === null) return null;
        const { scheme, validSeconds, keys } = token;
        const clear = checkCdnTokenKeys(scheme, keys);
        const { credentialsVersionMax } = (await load(address)).storage;
        return { scheme, validSeconds, credentials: await seal(address, credentialsVersionMax + 1, clear) };
      }
    },
    /** Makes an active storage the default of its project. @throws CommandRejected storage_not_active */
    chooseDefaultStorage: async (
      address: StorageAddress,
      context: CommandContext,
      { expectedRevision }: Options = {},
    ): Promise<Versioned<StorageResource>> => {
      const { projectId, storageId } = address;
      const { storage, revision } = await load(address);
      requireRevision(expectedRevision, revision);
      if (storage.status !== 'active')
        rejectStorage('storage_not_active', 'only an active storage can be the default');
      const command = { type: 'ChangeDefaultStorage', storageId } as const;
      await handler.handle(projectAggregate.at(projectId), command, context);
      return (await storages.find(projectId, storageId)) ?? storageNotFound();
    },
    /**
     * Sets the CORS rule for the pages of the service at the bucket, beside the rules that are there, and records it. A
     * repetition finds the rule and changes nothing (src/areas/storages/README.md#browsers).
     * @throws CommandRejected storage_disabled, storage_cors_refused
     */
    setStorageCors: async (
      address: StorageAddress,
      context: CommandContext,
      options?: Options,
    ): Promise<Versioned<StorageResource>> => {
      const { projectId, storageId } = address;
      const { storage, revision } = await load(address);
      if (storage.status === 'disabled')
        rejectStorage('storage_disabled', 'the storage is disabled; enable it first');
      requireRevision(options?.expectedRevision, revision);
      const opened = await openStorage.serving(storageId);
      if (opened === null) return storageNotFound();
      const asked = { urls: opened.urls, origins, ruleFor: corsRuleFields };
      const result = await setBucketCors(asked, AbortSignal.timeout(corsMs));
      if ('failure' in result)
        return rejectStorage('storage_cors_refused', describeCorsRefusal(result.failure));
      const { configuration: connection } = opened.storage;
      const record = { type: 'RecordCors', projectId, connection, origins, ...result } as const;
      return after(await handle(storageId, record, context, options));
    },
  };
}
