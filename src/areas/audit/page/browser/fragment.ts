/** What the fragment of the address says: which view, and its filters. It holds no secret, so links can be shared. */
export interface PageState {
  readonly view: 'events' | 'stream' | 'status';
  /** The values that are not empty, by the names of the query of the service. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The fields of each view: the filters of `GET /audit/events`, and those of `GET /audit/streams/{stream}`. */
export const fieldsOfView = {
  events: ['stream', 'type', 'actor', 'project', 'from', 'to'],
  stream: ['stream', 'as_of'],
  status: [],
} as const satisfies Readonly<Record<PageState['view'], readonly string[]>>;

const valueLengthMax = 300;

/** Reads a fragment, with or without `#`. What it does not know, it leaves out. */
export function stateOfFragment(fragment: string): PageState {
  const given = new URLSearchParams(fragment.replace(/^#/, ''));
  const named = given.get('view');
  const view = named === 'stream' || named === 'status' ? named : 'events';
  const fields: Record<string, string> = {};
  for (const name of fieldsOfView[view]) {
    const value = (given.get(name) ?? '').trim().slice(0, valueLengthMax);
    if (value !== '') fields[name] = value;
  }
  return { view, fields };
}

/** Returns the fragment of a state, with `#`. */
export function fragmentOf({ view, fields }: PageState): string {
  return `#${new URLSearchParams({ view, ...fields }).toString()}`;
}
