import { sharesProjection } from '../../projections/shares/projection.js';
import type { Position } from '../event-sourcing/domain-event.js';
import type { ProjectionRunner } from '../event-sourcing/projection-runner.js';
import { type AnyReaction, showsUpTo } from '../event-sourcing/reaction.js';
import { makeEraseShareKeys } from '../reactions/erase-share-keys.js';
import { makeRecordShareAccesses } from '../reactions/record-share-accesses.js';
import {
  makeRevokeAssetShares,
  makeRevokeLateShares,
  makeRevokeProjectShares,
} from '../reactions/revoke-orphaned-shares.js';
import type { Services } from './services.js';

/** The reactions that finish what was begun with shares. */
export function makeShareReactions(
  { commands, clock }: Pick<Services, 'commands' | 'clock'>,
  runner: Pick<ProjectionRunner, 'live'>,
): readonly AnyReaction[] {
  const sharesShown = (position: Position): boolean => showsUpTo(runner, sharesProjection, position);
  return [
    makeRecordShareAccesses({ ...commands, clock }),
    makeEraseShareKeys({ ...commands, sharesShown }),
    makeRevokeProjectShares({ ...commands, sharesShown }),
    makeRevokeAssetShares({ ...commands, sharesShown }),
    makeRevokeLateShares(commands),
  ];
}
