import { announce, byId, makeElement, makeUnfolding } from '../../../../../http/pages/browser/elements.js';
import { type Kept, KeptUnreadable } from '../kept.js';
import {
  type CheckpointNote,
  checkSignature,
  parseCheckpointNote,
  parseLogKey,
  type SignatureCheck,
} from '../proof/note.js';
import type { Checked } from '../proof/checks.js';
import type { ShownStatus } from '../replies.js';
import type { PageVerdict } from '../proof/verdict.js';

/** Shows how the log stands, and what this browser keeps of it. @param onChanged runs after the user has added a key or made the browser forget */
export function makeStatusView({ kept, onChanged }: { readonly kept: Kept; readonly onChanged: () => void }) {
  const facts = byId('status-facts', HTMLElement);
  const witnesses = byId('witnesses', HTMLElement);
  const remembered = byId('kept', HTMLElement);
  const key = byId('key', HTMLInputElement);
  const keyNote = byId('key-note', HTMLElement);
  let [shownStatus, shownKept] = ['', ''];
  /** The checkpoint that the service shows, whether it passed or not. */
  let checkpoint: CheckpointNote | null = null;
  byId('add-key', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    void addKey();
  });
  byId('forget', HTMLButtonElement).addEventListener('click', () => {
    if (!confirm('Forget the kept checkpoint and keys? Then the next check is a first one.')) return;
    kept.forget();
    onChanged();
  });
  return {
    show: ({ status, verdict }: Checked) => {
      checkpoint = shownCheckpoint(verdict);
      // Unchanged parts stay, because the user may have unfolded or selected something.
      const [statusText, keptText] = [JSON.stringify([status, verdict.kind]), describeKept(kept)];
      if (statusText !== shownStatus) {
        shownStatus = statusText;
        facts.replaceChildren(
          ...(status === null ? [] : factsOfStatus(status, verdict).flatMap(definitionOf)),
        );
        witnesses.replaceChildren(...(status === null ? [] : rowsOfWitnesses(status)));
      }
      if (keptText !== shownKept) remembered.replaceChildren(...keptParts(kept));
      shownKept = keptText;
    },
  };

  async function addKey(): Promise<void> {
    const parsed = await parseLogKey(key.value);
    if (parsed === null) {
      announce(keyNote, 'This is no vkey of an Ed25519 key. It has the form <name>+<id>+<base64>.');
      return;
    }
    try {
      kept.rememberKey(parsed.vkey);
    } catch (error) {
      if (!(error instanceof KeptUnreadable)) throw error;
      announce(keyNote, `The key cannot be remembered: ${error.message}.`);
      return;
    }
    key.value = '';
    const found = checkpoint === null ? null : await checkSignature(checkpoint, parsed);
    announce(keyNote, `This browser now remembers the key ${parsed.keyId}. ${sentenceOfKey(found)}`);
    onChanged();
  }
}

function factsOfStatus(status: ShownStatus, verdict: PageVerdict): readonly (readonly [string, string])[] {
  const { contradiction, sweep, problem } = status;
  const checkpoint = shownCheckpoint(verdict);
  return [
    ['Contradiction', contradiction === null ? 'none' : sentenceOfContradiction(contradiction)],
    ...(problem === null ? [] : [['Problem', problem] as const]),
    ['Events under the signed checkpoint', String(status.signedSize)],
    ['Signed at', status.signedAt ?? 'never'],
    ['Events that are not signed yet', String(Math.max(0, status.size - status.signedSize))],
    ...(checkpoint === null
      ? []
      : [
          ['Origin', checkpoint.origin] as const,
          ['Root', btoa(String.fromCharCode(...checkpoint.root))] as const,
        ]),
    ...status.vkeys.map((vkey) => ['Key that the service names', vkey] as const),
    ['Sweep', sentenceOfSweep(sweep)],
  ];
}

/** Returns what the service reports about a contradiction. */
export function sentenceOfContradiction(found: NonNullable<ShownStatus['contradiction']>): string {
  return `The service reports that its log contradicts what was signed: ${found.what} (found at ${found.foundAt}, by its ${found.source}, at ${found.size} events). It signs nothing more until this ends.`;
}

function sentenceOfSweep({ running, finishedAt, size }: ShownStatus['sweep']): string {
  const last =
    finishedAt === null
      ? 'No pass has ended since the process started.'
      : `The last full pass ended at ${finishedAt} and compared ${size} events.`;
  return running === null ? last : `A pass runs: ${running.done} of ${running.of} events. ${last}`;
}

function rowsOfWitnesses({ witnesses }: ShownStatus): readonly HTMLElement[] {
  if (witnesses.length === 0)
    return [makeElement('tr', {}, makeElement('td', { colspan: '3' }, 'No witness is configured.'))];
  return witnesses.map(({ name, size, problem }) =>
    makeElement(
      'tr',
      {},
      makeElement('th', { scope: 'row' }, name),
      makeElement('td', {}, String(size)),
      makeElement('td', {}, problem ?? 'none'),
    ),
  );
}

function shownCheckpoint(verdict: PageVerdict): CheckpointNote | null {
  if (verdict.kind === 'unchecked') return null;
  return verdict.kind === 'failed' ? parseCheckpointNote(verdict.shown) : verdict.shown.checkpoint;
}

/** A key that another way gave and that has not signed is a reason to doubt the keys of the first visit. */
function sentenceOfKey(found: SignatureCheck | null): string {
  if (found === 'valid') return 'It has signed the checkpoint that the service shows.';
  if (found === null || found === 'unsupported') return 'This browser could not check whether it has signed.';
  return 'It has NOT signed the checkpoint that the service shows. Ask the operator which keys sign now.';
}

function describeKept(kept: Kept): string {
  try {
    return JSON.stringify([kept.checkpoint()?.note, kept.keys()]);
  } catch (error) {
    return String(error);
  }
}

function keptParts(kept: Kept): readonly HTMLElement[] {
  try {
    const checkpoint = kept.checkpoint();
    const keys = kept.keys().map((vkey) => makeElement('li', {}, makeElement('code', {}, vkey)));
    return [
      makeElement('p', {}, checkpoint === null ? 'No checkpoint.' : sentenceOfKept(checkpoint.checkpoint)),
      ...(checkpoint === null ? [] : [makeUnfolding('Kept checkpoint', () => checkpoint.note)]),
      makeElement('p', {}, keys.length === 0 ? 'No key.' : 'Keys that this browser remembers:'),
      makeElement('ul', {}, ...keys),
    ];
  } catch (error) {
    if (!(error instanceof KeptUnreadable)) throw error;
    return [makeElement('p', {}, `Nothing can be read: ${error.message}.`)];
  }
}

function sentenceOfKept({ size, origin }: { readonly size: number; readonly origin: string }): string {
  return `A checkpoint of ${size} events of ${origin}.`;
}

function definitionOf([term, text]: readonly [string, string]): readonly HTMLElement[] {
  return [makeElement('dt', {}, term), makeElement('dd', {}, text)];
}
