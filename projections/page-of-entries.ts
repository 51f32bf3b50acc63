import type { Page } from '../src/event-sourcing/views/views.js';

/** Returns a page of the entries of one document, newest first by id, as in all lists. */
export function pageOfEntries<Entry extends { readonly id: string }>(
  entries: readonly Entry[],
  { after, limit }: Page,
): readonly Entry[] {
  return entries
    .filter(({ id }) => after === undefined || id < after)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit);
}
