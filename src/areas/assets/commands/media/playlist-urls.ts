import { hlsKind } from '../../domain/asset/renditions.js';
import type { PlaylistGrant } from '../../../../keys/codes/playlist-tokens.js';
import type { AssetDeps } from '../../deps.js';
import type { OpenedStorage } from '../../../storages/commands/open-storage.js';

/** Makes the URL of this service that serves a playlist (src/areas/assets/README.md#playlists). */
export type PlaylistUrl = (grant: PlaylistGrant) => string;

export function makePlaylistUrl({
  playlistTokens,
  publicUrl,
}: Pick<AssetDeps, 'playlistTokens' | 'publicUrl'>): PlaylistUrl {
  const origin = publicUrl.replace(/\/+$/, '');
  // Some players go by the ending.
  return (grant) => `${origin}/api/v1/hls/${playlistTokens.issue(grant)}/playlist.m3u8`;
}

/** Says whether the service serves the file. A CDN that serves the folder without signatures serves its playlists too. */
export function isServedPlaylist(
  { kind }: { readonly kind: string },
  { delivery, configuration }: OpenedStorage['storage'],
): boolean {
  return kind === hlsKind && !(delivery === 'public' && configuration.cdn_domain !== '');
}

/** Returns the folder of an object key, with its slash. */
export function folderOf(objectKey: string): string {
  return objectKey.slice(0, objectKey.lastIndexOf('/') + 1);
}
