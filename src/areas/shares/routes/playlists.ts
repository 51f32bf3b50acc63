import { z } from 'zod';
import type { ShareCommands } from '../commands/index.js';
import { contentTag } from '../../../http/replies/etag.js';
import { ignoredQuery, noBody } from '../../../http/route-spec.js';
import { defineRoute, type Route } from '../../../http/route.js';

/** Makes the route of HLS playlists (src/areas/assets/README.md#playlists). */
export function makePlaylistRoutes({
  servePlaylist,
}: Pick<ShareCommands, 'servePlaylist'>): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/hls/:token/playlist.m3u8',
      name: 'getPlaylist',
      tag: 'Shares',
      summary: 'An HLS playlist with signed URLs',
      description:
        'The URL is that of a rendition `hls` in `media`. Segments have signed URLs of the bucket for 15 to 20 minutes. Pages of every origin may fetch it. It is 404 once the share has ended.',
      request: { params: z.object({ token: z.string() }), query: ignoredQuery, body: noBody },
      replies: {
        200: {
          description: 'A playlist (RFC 8216).',
          schema: z.string(),
          mediaType: 'application/vnd.apple.mpegurl',
        },
      },
      errors: ['not_found', 'conflict', 'bucket_unavailable'],
      limit: { name: 'playlist', counts: 'all' },
      entityTag: true,
      handler: async ({ params: { token } }) => {
        const { text, maxAgeSeconds } = await servePlaylist(token);
        const cacheControl = `private, max-age=${maxAgeSeconds}` as const;
        const prepared = {
          bytes: Buffer.from(text),
          tag: contentTag(text),
          cacheControl,
          isForAllOrigins: true,
        };
        return { status: 200, prepared };
      },
    }),
  ];
}
