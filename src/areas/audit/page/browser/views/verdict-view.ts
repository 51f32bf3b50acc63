import type { Checked } from '../proof/checks.js';
import { byId, makeElement, makeUnfolding } from '../../../../../http/pages/browser/elements.js';
import { type Kept, type KeptNote, KeptUnreadable } from '../kept.js';
import { sentenceOfContradiction } from './status-view.js';
import type { PageVerdict } from '../proof/verdict.js';

/** Shows the verdict at the top, and raises the alarms that follow from it. */
export function makeVerdictView({ kept, alarms }: { readonly kept: Kept; readonly alarms: Alarms }): {
  readonly show: (checked: Checked) => void;
} {
  const box = byId('verdict', HTMLElement);
  const text = byId('verdict-text', HTMLElement);
  const signature = byId('signature-text', HTMLElement);
  const evidence = byId('evidence', HTMLElement);
  return {
    show: ({ status, verdict }) => {
      const contradiction = status?.contradiction ?? null;
      // While the service does not answer, the last state of these two stays.
      if (status !== null) {
        alarms.set('contradiction', contradiction === null ? null : sentenceOfContradiction(contradiction));
        alarms.set(
          'sequencing',
          status.problem === null ? null : `The log is not sequenced: ${status.problem}.`,
        );
      }
      if (verdict.kind !== 'unchecked')
        alarms.set('checkpoint', verdict.kind === 'failed' ? verdict.reason : null);
      box.dataset['verdict'] = verdict.kind;
      const sentence = sentenceOfVerdict(verdict);
      signature.textContent = sentenceOfSignature(verdict);
      // Unchanged parts stay: screen readers announce each change, and the user may have unfolded the evidence.
      if (text.textContent === sentence) return;
      text.textContent = sentence;
      evidence.replaceChildren(...(verdict.kind === 'failed' ? evidenceOf(verdict.shown, kept) : []));
    },
  };
}

function sentenceOfVerdict(verdict: PageVerdict): string {
  switch (verdict.kind) {
    case 'first':
      return `First time: this browser now remembers this checkpoint of ${verdict.shown.checkpoint.size} events. The next visit checks that the log continues it. Nothing shows what the log was before.`;
    case 'continues': {
      const [now, before] = [verdict.shown.checkpoint.size, verdict.before?.checkpoint.size ?? 0];
      return now === before
        ? `Continues: the checkpoint of ${now} events is the one that this browser saw last.`
        : `Continues: the checkpoint of ${now} events continues the ${before} events that this browser saw last.`;
    }
    case 'failed':
      return `NOT VERIFIED. ${verdict.reason} This browser does not keep what the service shows.`;
    case 'unchecked':
      return `NOT CHECKED. ${verdict.reason}`;
  }
}

function sentenceOfSignature(verdict: PageVerdict): string {
  if (verdict.kind === 'failed' || verdict.kind === 'unchecked') return '';
  const { key, isKeyNew } = verdict;
  if (key === null)
    return 'Signature: NOT CHECKED. This browser has no Ed25519. Use a newer one, or the program stowage-verify.';
  const holds = `Signature: the key ${key.keyId} has signed the checkpoint.`;
  return isKeyNew
    ? `${holds} First time: this browser now remembers this key. Compare it with the one that the operator gave you by another way: ${key.vkey}`
    : holds;
}

function evidenceOf(shown: string, kept: Kept): readonly HTMLElement[] {
  const before = readKept(kept);
  return [
    ...(before === null ? [] : [makeUnfolding('The checkpoint that this browser kept', () => before.note)]),
    ...(shown === '' ? [] : [makeUnfolding('The checkpoint that the service shows', () => shown)]),
  ];
}

function readKept(kept: Kept): KeptNote | null {
  try {
    return kept.checkpoint();
  } catch (error) {
    if (error instanceof KeptUnreadable) return null;
    throw error;
  }
}

/** The subjects of alarms. Each has at most one sentence. */
type AlarmSubject = 'contradiction' | 'checkpoint' | 'events' | 'sequencing';

/** Shows failures above everything else, until they end. */
type Alarms = ReturnType<typeof makeAlarms>;

export function makeAlarms() {
  const region = byId('alarm', HTMLElement);
  const title = document.title;
  const sentences = new Map<AlarmSubject, string>();
  return {
    set: (subject: AlarmSubject, sentence: string | null) => {
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
