import { byId, makeElement } from '../../../../../http/pages/browser/elements.js';

/** The subjects of alarms. Each has at most one sentence. */
export type AlarmSubject = 'contradiction' | 'checkpoint' | 'events' | 'sequencing';

/** Shows failures above everything else, until they end. */
export interface Alarms {
  readonly set: (subject: AlarmSubject, sentence: string | null) => void;
}

export function makeAlarms(): Alarms {
  const region = byId('alarm', HTMLElement);
  const title = document.title;
  const sentences = new Map<AlarmSubject, string>();
  return {
    set: (subject, sentence) => {
      if ((sentences.get(subject) ?? null) === sentence) return;
      if (sentence === null) sentences.delete(subject);
      else sentences.set(subject, sentence);
      const lines = [...sentences.values()].map((line) => makeElement('p', {}, line));
      region.replaceChildren(
        ...(lines.length === 0 ? [] : [makeElement('h2', {}, 'NOT VERIFIED'), ...lines]),
      );
      region.hidden = lines.length === 0;
      document.title = lines.length === 0 ? title : `NOT VERIFIED – ${title}`;
    },
  };
}
