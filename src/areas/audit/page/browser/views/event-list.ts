import {
  announce,
  byId,
  makeElement,
  makeLink,
  makeUnfolding,
} from '../../../../../http/pages/browser/elements.js';
import { fragmentOf } from '../entry.js';
import type { EventMark } from './marks.js';
import type { Names } from '../names.js';
import { type ShownItem, type ShownStream, pageOfReply, streamOfReply } from '../replies.js';
import { type ServiceClient, sentenceOfCall } from '../service-client.js';

/** Shows the documents of a stream at a moment. */
export function makeStreamView(client: Pick<ServiceClient, 'getJson'>) {
  const note = byId('stream-note', HTMLElement);
  const documents = byId('documents', HTMLElement);
  /** Replies for an earlier moment are dropped. */
  let asked = 0;
  return {
    /** @param moment the index of an event or a time; empty for the end of the signed log */
    show: (stream: string, moment: string) => {
      asked += 1;
      documents.replaceChildren();
      announce(note, '');
      if (stream !== '') void read(stream, moment, asked);
    },
  };

  async function read(stream: string, moment: string, own: number): Promise<void> {
    const query = moment === '' ? '' : `?as_of=${encodeURIComponent(moment)}`;
    try {
      const shown = streamOfReply(
        await client.getJson(`/audit/streams/${encodeURIComponent(stream)}${query}`),
      );
      if (own !== asked) return;
      documents.replaceChildren(...partsOf(shown));
      announce(note, `Revision ${shown.revision} of the stream, after event ${shown.index} of the log.`);
    } catch (error) {
      if (own === asked) announce(note, sentenceOfCall(error));
    }
  }
}

function partsOf({ views }: ShownStream): readonly HTMLElement[] {
  const names = Object.keys(views);
  if (names.length === 0) return [makeElement('p', {}, 'No view shows this stream.')];
  return names.flatMap((name) => [
    makeElement('h4', {}, name),
    views[name] === null
      ? makeElement('p', {}, 'This view showed nothing then.')
      : makeElement('pre', { tabindex: '0' }, JSON.stringify(views[name], null, 2)),
  ]);
}

const pageLength = 50;
/** A page of the service may be short or empty. So many pages are read before the page asks whether to go on. */
const pagesMax = 10;
const checksAtOnce = 4;

/** The list of events of one search, each with its mark. */
export function makeEventList(deps: {
  readonly list: HTMLElement;
  readonly more: HTMLButtonElement;
  readonly note: HTMLElement;
  readonly client: Pick<ServiceClient, 'getJson'>;
  readonly names: Names;
  readonly mark: (item: ShownItem) => Promise<EventMark>;
  /** Receives the indexes of the shown events that contradict the checkpoint. */
  readonly onContradictions: (indexes: readonly number[]) => void;
}) {
  const { list, more, note, client, names, mark, onContradictions } = deps;
  /** Replies for an earlier search are dropped. */
  let search = 0;
  let goOn: (() => void) | null = null;
  let marks: { readonly index: number; readonly mark: EventMark }[] = [];
  more.addEventListener('click', () => goOn?.());
  const clear = (): void => {
    search += 1;
    [goOn, marks] = [null, []];
    list.replaceChildren();
    more.hidden = true;
    announce(note, '');
    onContradictions([]);
  };
  return {
    clear,
    /** Begins another search. @param query the filters, by the names of `GET /audit/events` */
    show: (query: Readonly<Record<string, string>>) => {
      clear();
      void readOn(query, null, search);
    },
  };

  async function readOn(query: Readonly<Record<string, string>>, from: string | null, own: number) {
    [more.hidden, goOn] = [true, null];
    announce(note, 'Searching …');
    let cursor = from;
    let unnamed = '';
    try {
      for (let pages = 0, found = 0; pages < pagesMax && found < pageLength; pages += 1) {
        const parameters = new URLSearchParams({ ...query, limit: String(pageLength - found) });
        if (cursor !== null) parameters.set('cursor', cursor);
        const page = pageOfReply(await client.getJson(`/audit/events?${parameters.toString()}`));
        unnamed = await loadNames(page.items);
        if (own !== search) return;
        await showItems(page.items, own);
        [found, cursor] = [found + page.items.length, page.nextCursor];
        if (cursor === null) break;
      }
      if (own !== search) return;
      offerMore(query, cursor, own);
      announce(note, `${summaryOfMarks(marks, cursor !== null)}${unnamed}`);
    } catch (error) {
      if (own !== search) return;
      offerMore(query, cursor, own);
      announce(note, sentenceOfCall(error));
    }
  }

  /** The events stand for themselves, so they show without names too. Returns what the reader should know. */
  async function loadNames(items: readonly ShownItem[]): Promise<string> {
    try {
      await names.load(items);
      return '';
    } catch (error) {
      return ` Names are missing: ${sentenceOfCall(error)}`;
    }
  }

  function offerMore(query: Readonly<Record<string, string>>, cursor: string | null, own: number): void {
    more.hidden = cursor === null;
    goOn = cursor === null ? null : () => void readOn(query, cursor, own);
  }

  async function showItems(items: readonly ShownItem[], own: number): Promise<void> {
    for (const item of items) offerValues(item, names);
    const waiting = items.map((item) => {
      const label = makeElement('p', { class: 'mark', 'data-mark': 'pending' }, 'checking …');
      list.append(rowOf(item, names, label));
      return { item, label };
    });
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined && own === search; next = waiting.shift()) {
        const { item, label } = next;
        const found = await mark(item);
        if (own !== search) return;
        label.textContent = sentenceOfMark(found);
        label.dataset['mark'] = found.kind;
        marks.push({ index: item.index, mark: found });
      }
    };
    await Promise.all(Array.from({ length: checksAtOnce }, worker));
    if (own !== search) return;
    onContradictions(marks.filter((one) => one.mark.kind === 'not').map(({ index }) => index));
  }
}

const offeredMax = 200;

/** Empties the pick lists of the filters, because their labels are names of people. */
export function forgetOffered(): void {
  for (const name of ['shown-streams', 'shown-actors', 'shown-projects'])
    byId(name, HTMLDataListElement).replaceChildren();
}

/** Adds what an event names to the pick lists of the filters. */
function offerValues({ event, projectId }: ShownItem, { nameOf }: Names): void {
  const actor = (event.metadata as Readonly<Record<string, unknown>>)['actor'];
  for (const [name, value, named] of [
    ['shown-streams', event.stream, event.stream],
    ['shown-actors', actor, actor],
    ['shown-projects', projectId, `project-${projectId}`],
  ] as const) {
    const { options } = byId(name, HTMLDataListElement);
    if (typeof value !== 'string' || options.length >= offeredMax) continue;
    if ([...options].every((option) => option.value !== value))
      byId(name, HTMLDataListElement).append(
        makeElement('option', { value, label: nameOf(String(named)) ?? value }),
      );
  }
}

function rowOf(
  { index, words, projectId, event }: ShownItem,
  { beside }: Names,
  label: HTMLElement,
): HTMLLIElement {
  const { stream, type, recorded_at, metadata } = event;
  const actor = (metadata as Readonly<Record<string, unknown>>)['actor'];
  const facts: (Node | string)[] = [
    `event ${index}`,
    makeElement('time', { datetime: recorded_at }, recorded_at),
    makeLink(fragmentOf({ view: 'events', fields: { type } }), type),
    makeLink(fragmentOf({ view: 'stream', fields: { stream, as_of: String(index) } }), beside(stream)),
  ];
  if (typeof actor === 'string')
    facts.push(makeLink(fragmentOf({ view: 'events', fields: { actor } }), beside(actor)));
  if (projectId !== null) {
    const fields = { project: projectId };
    facts.push(makeLink(fragmentOf({ view: 'events', fields }), beside(`project ${projectId}`)));
  }
  const spaced = facts.flatMap((fact, at) => (at === 0 ? [fact] : [' · ', fact]));
  return makeElement(
    'li',
    { 'data-index': String(index) },
    label,
    makeElement('p', { class: 'words' }, beside(words)),
    makeElement('p', { class: 'faint' }, ...spaced),
    makeUnfolding('Raw event', () => JSON.stringify(event, null, 2)),
  );
}

function sentenceOfMark(mark: EventMark): string {
  switch (mark.kind) {
    case 'under':
      return '✓ under the checkpoint';
    case 'unsigned':
      return '… not signed yet';
    case 'not':
      return `✗ NOT under the checkpoint: ${mark.reason}`;
    case 'unchecked':
      return `? NOT CHECKED: ${mark.reason}`;
  }
}

function summaryOfMarks(marks: readonly { readonly mark: EventMark }[], hasMore: boolean): string {
  const count = (kind: EventMark['kind']): number => marks.filter(({ mark }) => mark.kind === kind).length;
  const parts = [
    `${marks.length} events are shown. ${count('under')} are under the checkpoint.`,
    count('unsigned') > 0 ? `${count('unsigned')} are not signed yet.` : '',
    count('not') > 0 ? `${count('not')} are NOT under the checkpoint.` : '',
    count('unchecked') > 0 ? `${count('unchecked')} could not be checked.` : '',
    hasMore ? 'There may be more.' : 'These are all.',
  ];
  return parts.filter((part) => part !== '').join(' ');
}
