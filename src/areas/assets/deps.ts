import type { AssetReader } from '../../../projections/assets/assets/reader.js';
import type { UsageReader } from '../../../projections/assets/usage/reader.js';
import type { PlaylistTokens } from '../../keys/codes/mac-tokens.js';
import type { StorageDeps } from '../storages/deps.js';

/** The collaborators of the use cases of this area, with those of the areas below it. */
export interface AssetDeps extends StorageDeps {
  readonly assets: AssetReader;
  readonly usage: UsageReader;
  readonly playlistTokens: PlaylistTokens;
  /** How long an import may take after its list, in milliseconds: 8,000 where it is left out. Slow machines test with more. */
  readonly importMs?: number;
}
