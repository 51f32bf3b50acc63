import { isProtected } from '../../domain/share/share.js';
import { shareNotFound } from '../../domain/share/rejections.js';
import type { FindVisitedShare } from './find-visited-share.js';

/** The facts that a visitor sees before the password. */
export interface SharedPlace {
  readonly passwordRequired: boolean;
  /** Whether opening it counts. */
  readonly limitedUses: boolean;
  readonly project: { readonly name: string; readonly accentColor: string | null };
}

/**
 * Describes the place that a token opens, before the password (src/areas/shares/README.md#share-verification).
 * @throws CommandRejected share_not_found in the cases in which verification is 404; StoreUnavailable
 */
export type DescribeShared = (token: string) => Promise<SharedPlace>;

/** Finds the origins that may frame the page of a token; none for a share that does not open. @throws StoreUnavailable */
export type FindFrameAncestors = (token: string) => Promise<readonly string[]>;

interface Found {
  readonly findVisitedShare: FindVisitedShare;
}

export function makeDescribeShared({ findVisitedShare }: Found): DescribeShared {
  return async (token) => {
    const found = await findVisitedShare(token, null);
    if (found === null) return shareNotFound();
    const { name, accent_color: accentColor } = found.shared.project;
    const { share } = found;
    return {
      passwordRequired: isProtected(share),
      limitedUses: share.max_uses !== null,
      project: { name, accentColor },
    };
  };
}

export function makeFindFrameAncestors({ findVisitedShare }: Found): FindFrameAncestors {
  return async (token) => (await findVisitedShare(token, null))?.share.frame_ancestors ?? [];
}
