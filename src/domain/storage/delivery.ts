import { z } from 'zod';
import type { StorageProvider } from './provider.js';

/**
 * How media URLs use `cdn_domain` (docs/design.md#delivery):
 * - `origin`: the domain is another name of the bucket (CNAME), and URLs are signed for it
 * - `rewrite`: URLs are signed for the bucket's host, which the CDN sends to its origin; then the host is replaced
 * - `public`: the CDN reads the bucket itself, and URLs have no signature
 */
export const deliveryMode = z.enum(['origin', 'rewrite', 'public']);
export type DeliveryMode = z.infer<typeof deliveryMode>;

/** Returns the mode of the usual set-up: OSS and COS bind a domain to the bucket, S3 is behind a CDN. */
export function defaultDelivery(provider: StorageProvider): DeliveryMode {
  return provider === 's3' ? 'rewrite' : 'origin';
}
