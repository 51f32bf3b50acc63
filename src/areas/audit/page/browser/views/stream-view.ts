import { announce, byId, makeElement } from '../../../../../http/pages/browser/elements.js';
import { type ShownStream, streamOfReply } from '../replies.js';
import { sentenceOfCall, type ServiceClient } from '../service-client.js';

/** Shows the documents of a stream at a moment. */
interface StreamView {
  /** @param moment the index of an event or a time; empty for the end of the signed log */
  readonly show: (stream: string, moment: string) => void;
}

export function makeStreamView(client: Pick<ServiceClient, 'getJson'>): StreamView {
  const note = byId('stream-note', HTMLElement);
  const documents = byId('documents', HTMLElement);
  /** Replies for an earlier moment are dropped. */
  let asked = 0;
  return {
    show: (stream, moment) => {
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
