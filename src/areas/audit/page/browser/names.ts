import { fieldsOf, listIn, type ShownItem, textIn } from './replies.js';
import type { ServiceClient } from './service-client.js';

/** What people call the users, projects and shares of the shown events. */
export type Names = ReturnType<typeof makeNames>;

/** `user:<id>` in actors, `user <id>` in sentences, `user-<id>` in streams. */
const named = /\b(user|project|share)[ :-]([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\b/gi;
/** The service names so many at once. */
const namesAtOnce = 50;
const namesMax = 5_000;

export function makeNames(client: Pick<ServiceClient, 'getJson'>) {
  /** Null for a stream without a name. */
  const known = new Map<string, string | null>();
  const nameOf = (text: string): string | null => known.get(streamsIn(text)[0] ?? '') ?? null;
  return {
    /** Asks for the names that the events need and the page does not know. @throws as `ServiceClient.getJson` */
    load: async (items: readonly ShownItem[]) => {
      const wanted = [...new Set(items.flatMap(streamsOfItem))].filter((stream) => !known.has(stream));
      if (known.size > namesMax) known.clear();
      while (wanted.length > 0) {
        const part = wanted.splice(0, namesAtOnce);
        const reply = fieldsOf(await client.getJson(`/audit/names?streams=${part.join(',')}`));
        for (const stream of part) known.set(stream, null);
        for (const item of listIn(reply, 'items').map(fieldsOf))
          known.set(textIn(item, 'stream'), textIn(item, 'name'));
      }
    },
    /** Returns the name of a user, project or share; null for none. @param text as in `beside` */
    nameOf,
    /** Adds its name to each id in a text: `user <id>` becomes `user <id> (“Ada”)`. */
    beside: (text: string) =>
      text.replaceAll(named, (id) => {
        const name = nameOf(id);
        return name === null ? id : `${id} (“${name}”)`;
      }),
    /** Returns the streams of these kinds that a name stands for. Capitals do not count. */
    streamsOf: (name: string, kinds: readonly string[]) =>
      [...known]
        .filter(
          ([stream, one]) => one?.toLowerCase() === name.toLowerCase() && kinds.includes(kindOf(stream)),
        )
        .map(([stream]) => stream),
    /** Forgets all names, because they are personal. */
    forget: () => known.clear(),
  };
}

function streamsIn(text: string): readonly string[] {
  return [...text.matchAll(named)].map(([, kind = '', id = '']) => `${kind}-${id}`.toLowerCase());
}

function streamsOfItem({ words, projectId, event }: ShownItem): readonly string[] {
  const { actor } = event.metadata as Readonly<Record<string, unknown>>;
  return streamsIn([words, event.stream, actor, `project-${projectId ?? ''}`].join('\n'));
}

function kindOf(stream: string): string {
  return stream.slice(0, stream.indexOf('-'));
}

/** The kinds that the value of a filter may name, and the value for a stream. */
const filters = {
  stream: { kinds: ['user', 'project', 'share'], valueOf: (stream) => stream },
  actor: { kinds: ['user'], valueOf: (stream) => stream.replace('-', ':') },
  project: { kinds: ['project'], valueOf: (stream) => stream.slice('project-'.length) },
} satisfies Readonly<Record<string, { kinds: readonly string[]; valueOf: (stream: string) => string }>>;

/** Returns the value of a filter for a typed text. A name that one stream has becomes that stream; all else stays. */
export function filterValueOf(names: Pick<Names, 'streamsOf'>, field: string, typed: string): string {
  if (!Object.hasOwn(filters, field)) return typed;
  const { kinds, valueOf } = filters[field as keyof typeof filters];
  const [stream, ...others] = names.streamsOf(typed, kinds);
  return stream === undefined || others.length > 0 ? typed : valueOf(stream);
}
