import { storageConfigsProjection } from '../../projections/storage-configs/projection.js';
import type { ProjectionRunner } from '../event-sourcing/projection-runner.js';
import { type AnyReaction, showsUpTo } from '../event-sourcing/reaction.js';
import { makeChooseFirstDefault } from '../reactions/choose-first-default.js';
import { makeDeleteLateStorages, makeDeleteProjectStorages } from '../reactions/delete-orphaned-storages.js';
import { makeEraseStorageCredentials } from '../reactions/erase-storage-credentials.js';
import { makeProbeStorages } from '../reactions/probe-storages.js';
import type { Services } from './services.js';

/** The reactions that test storages, and that clean up behind deleted ones. */
export function makeStorageReactions(
  { commands, clock }: Services,
  runner: Pick<ProjectionRunner, 'live'>,
): readonly AnyReaction[] {
  return [
    makeProbeStorages({ ...commands, clock }),
    makeChooseFirstDefault(commands),
    makeEraseStorageCredentials(commands),
    makeDeleteLateStorages(commands),
    makeDeleteProjectStorages({
      ...commands,
      storagesShown: (position) => showsUpTo(runner, storageConfigsProjection, position),
    }),
  ];
}
