import { type Kept, KeptUnreadable } from '../kept.js';
import { type EventMark, markOf } from '../views/marks.js';
import { type ShownItem, type ShownStatus, statusOfReply } from '../replies.js';
import { CallFailed, sentenceOfCall, type ServiceClient } from '../service-client.js';
import { makeProvenLeaves, type ProvenLeaves } from './tiles.js';
import { judgeCheckpoint, type PageVerdict, parseProofLines } from './verdict.js';

/** What the page knows about the log. */
export type Checked = { readonly status: ShownStatus | null; readonly verdict: PageVerdict };

const attemptsMax = 3;

/** The checks of the page: the checkpoint, and each shown event. */
export function makePageChecks(deps: {
  readonly client: Pick<ServiceClient, 'getJson' | 'getText' | 'getBytes'>;
  readonly kept: Kept;
  readonly onChecked: (checked: Checked) => void;
}) {
  const { client, kept, onChecked } = deps;
  let verdict: PageVerdict = { kind: 'unchecked', reason: 'No check has run.' };
  let proven: { readonly size: number; readonly note: string; readonly leaves: ProvenLeaves } | null = null;
  /** The note after which a newer one was asked for already. */
  let refreshedFor: string | null = null;
  let refreshing: Promise<Checked> | null = null;
  const refresh = (): Promise<Checked> => {
    refreshing ??= check().finally(() => {
      refreshing = null;
    });
    return refreshing;
  };
  return {
    /** Reads status and checkpoint again. It keeps the checkpoint only where every check of it has passed. It never throws. */
    refresh,
    mark: async (item: ShownItem): Promise<EventMark> => {
      // The service may have signed after the last check.
      if (proven !== null && item.index >= proven.size && proven.note !== refreshedFor) {
        refreshedFor = proven.note;
        await refresh();
      }
      if (verdict.kind === 'failed')
        return { kind: 'not', reason: 'The checkpoint itself failed its check.' };
      if (proven === null) return { kind: 'unchecked', reason: 'The checkpoint could not be checked.' };
      return markOf(item, proven);
    },
  };

  async function check(): Promise<Checked> {
    let status: ShownStatus | null = null;
    try {
      if (!isSecureContext) throw new Error('browsers check nothing on a page without https');
      status = statusOfReply(await client.getJson('/audit/status'));
      verdict = await judge(status.vkeys);
    } catch (error) {
      verdict = verdictOfError(error);
    }
    prove();
    const checked = { status, verdict };
    onChecked(checked);
    return checked;
  }

  /** Judges again when another tab has kept another checkpoint meanwhile. */
  async function judge(offered: readonly string[]): Promise<PageVerdict> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const before = kept.checkpoint();
      const judged = await judgeCheckpoint({
        note: await client.getText('/audit/log/checkpoint'),
        ...{ kept: before, remembered: kept.keys(), offered },
        consistency: async (from, to) => {
          const proof = parseProofLines(await client.getText(`/audit/consistency?from=${from}&to=${to}`));
          if (proof === null) throw new Error('the consistency proof is no list of hashes');
          return proof;
        },
      });
      if (judged.kind !== 'first' && judged.kind !== 'continues') return judged;
      if (!kept.replace(before, judged.shown)) continue;
      if (judged.key !== null) kept.rememberKey(judged.key.vkey);
      return judged;
    }
    return { kind: 'unchecked', reason: 'Other tabs of this page check at the same time.' };
  }

  function prove(): void {
    if (verdict.kind === 'failed' || verdict.kind === 'unchecked') {
      proven = null;
      return;
    }
    const { checkpoint, note } = verdict.shown;
    if (proven?.note === note) return;
    const leaves = makeProvenLeaves(checkpoint, (path) => client.getBytes(`/audit/log/${path}`));
    proven = { size: checkpoint.size, note, leaves };
  }
}

/** What this browser kept and cannot read is a failure: a damaged memory must not count as a first visit. */
function verdictOfError(error: unknown): PageVerdict {
  if (error instanceof KeptUnreadable)
    return { kind: 'failed', reason: `There is nothing to compare with: ${error.message}.`, shown: '' };
  const isCall = error instanceof CallFailed;
  const reason = error instanceof Error && !isCall ? `${error.message}.` : sentenceOfCall(error);
  return { kind: 'unchecked', reason };
}
