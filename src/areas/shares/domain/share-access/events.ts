import { event, type EventIn, makeEvents } from '../../../../event-sourcing/ports/events.js';
import { entityId, hexDigest } from '../../../../validation/fields.js';

/** Streams `shareaccess-<access id>`: one stream an opening, so a busy share has no hot stream. */
export const shareAccessEvents = makeEvents('shareaccess-{access id}', {
  /** A visitor gave the right password and got the media. */
  ShareVerified: event(
    {
      share_id: entityId,
      project_id: entityId,
      /** Keyed digest of the visitor's address. */
      client_ip_digest: hexDigest.nullable(),
    },
    ({ share_id, project_id }, id) => `opened share ${share_id} of project ${project_id} (access ${id})`,
    'share.opened',
  ),
  /** The page of the visitor said that the visitor saves a file of the asset; once for each asset. */
  ShareDownloaded: event(
    { share_id: entityId, asset_id: entityId },
    ({ share_id, asset_id }, id) => `saved asset ${asset_id} of share ${share_id} by its page (access ${id})`,
    'share.downloaded',
  ),
});

export type ShareAccessEvent = EventIn<typeof shareAccessEvents>;
export const { category: shareAccessCategory, codec: shareAccessCodec } = shareAccessEvents;
