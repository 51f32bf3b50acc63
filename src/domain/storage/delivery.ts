import { z } from 'zod';
import type { StorageProvider } from './provider.js';

/**
 * How `cdn_domain` is used in media URLs (DESIGN 4.3):
 * - `origin`: the domain is the bucket's own name (CNAME), so URLs are signed for it
 * - `rewrite`: a CDN in front sends the bucket's host to the origin: signed for the bucket, then the host is swapped
 * - `public`: the CDN reads the bucket by itself, so URLs carry no signature
 */
export const deliveryMode = z.enum(['origin', 'rewrite', 'public']);
export type DeliveryMode = z.infer<typeof deliveryMode>;

/** What works with the providers' usual set-ups: OSS and COS bind a domain to the bucket, S3 is behind a CDN. */
export function defaultDelivery(provider: StorageProvider): DeliveryMode {
  return provider === 's3' ? 'rewrite' : 'origin';
}
