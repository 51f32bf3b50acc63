import type { Aggregate } from '../../event-sourcing/decider.js';
import type { Sealed } from '../../event-sourcing/sealed.js';
import type { StorageConfiguration } from './configuration.js';
import { storageCodec, type StorageEvent } from './events.js';
import { storageCategory } from './stream.js';

export type StorageState =
  | { readonly status: 'absent' }
  | { readonly status: 'pending'; readonly projectId: string; readonly credentialsVersion: number };

export interface StorageCommand {
  readonly type: 'Create';
  readonly projectId: string;
  readonly configuration: StorageConfiguration;
  readonly credentialsVersion: number;
  readonly credentials: Readonly<Record<string, Sealed>>;
}

/** DESIGN 4.2: storages of one project. */
export const storagesMax = 20;

/** The version of a storage's first credentials. */
export const firstCredentialsVersion = 1;

const initialState: StorageState = { status: 'absent' };

function evolve(_state: StorageState, { data }: StorageEvent): StorageState {
  return { status: 'pending', projectId: data.project_id, credentialsVersion: data.credentials_version };
}

function decide(command: StorageCommand, state: StorageState): readonly StorageEvent[] {
  // A storage's id is made from the command that creates it, so one that exists is what an earlier try has made.
  if (state.status !== 'absent') return [];
  const { projectId, configuration, credentialsVersion, credentials } = command;
  return [
    {
      type: 'StorageCreated',
      data: {
        project_id: projectId,
        ...configuration,
        credentials_version: credentialsVersion,
        credentials: { ...credentials },
      },
    },
  ];
}

export const storageAggregate: Aggregate<StorageState, StorageCommand, StorageEvent> = {
  category: storageCategory,
  codec: storageCodec,
  decider: { initialState, decide, evolve },
};
