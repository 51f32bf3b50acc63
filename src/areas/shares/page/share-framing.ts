import { contentTag } from '../../../http/replies/etag.js';
import type { PreparedBody } from '../../../http/replies/reply.js';

const nowhere = "frame-ancestors 'none'";

/**
 * Lets pages of these origins show a prepared page in a frame (CSP Level 3, `frame-ancestors`). The entity tag names the
 * origins, so a browser does not keep the policy of before. Without origins the page stays as it is.
 * @param ancestors origins as `checkFrameAncestors` returns them
 */
export function framedBy(page: PreparedBody, ancestors: readonly string[]): PreparedBody {
  if (ancestors.length === 0) return page;
  const policy = page.contentSecurityPolicy ?? nowhere;
  const contentSecurityPolicy = policy.replace(nowhere, `frame-ancestors ${ancestors.join(' ')}`);
  return { ...page, contentSecurityPolicy, tag: contentTag(`${page.tag} ${contentSecurityPolicy}`) };
}
