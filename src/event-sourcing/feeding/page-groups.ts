import type { LogEvent } from '../ports/domain-event.js';
import type { LogPage } from '../ports/event-store.js';
import { parseStreamName } from '../ports/stream-name.js';

/** The events of one category, by the id of their stream, in order. */
export type EventGroups = ReadonlyMap<string, readonly LogEvent[]>;

const none: EventGroups = new Map();
const grouped = new WeakMap<LogPage, Map<string, Map<string, LogEvent[]>>>();

/** Returns the events of a category in a page. A page is grouped once for all views that follow it. */
export function groupsOf(page: LogPage, category: string): EventGroups {
  let categories = grouped.get(page);
  if (categories === undefined) {
    categories = groupByCategory(page.events);
    grouped.set(page, categories);
  }
  return categories.get(category) ?? none;
}

function groupByCategory(events: readonly LogEvent[]): Map<string, Map<string, LogEvent[]>> {
  const categories = new Map<string, Map<string, LogEvent[]>>();
  for (const event of events) {
    const name = parseStreamName(event.stream);
    if (name === null) continue;
    let groups = categories.get(name.category);
    if (groups === undefined) {
      groups = new Map<string, LogEvent[]>();
      categories.set(name.category, groups);
    }
    const group = groups.get(name.id);
    if (group === undefined) groups.set(name.id, [event]);
    else group.push(event);
  }
  return categories;
}
