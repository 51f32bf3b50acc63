import type { LogEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { ReceivedMail } from './smtp-server.js';

/** A process that was killed so shortly before or after the arrival of a mail may not have recorded it. In milliseconds. */
const nearMs = 5_000;

/**
 * Compares the mails that a server has received with the events that ask for them. The event names its mail.
 * @param asked the events that ask for a mail
 * @param disturbedAtMs when processes were killed or frozen, in epoch milliseconds
 * @returns as sentences: missing mails, mails that no event asks for, copies that differ, and mails that came twice
 * although no process was disturbed at the time of the first
 */
export function findMailProblems(
  asked: readonly LogEvent[],
  mails: readonly ReceivedMail[],
  disturbedAtMs: readonly number[],
): { readonly problems: readonly string[]; readonly repeated: number } {
  const byId = new Map<string, ReceivedMail[]>();
  for (const mail of mails) {
    const id = mail.email.messageId?.slice(1).split('@')[0] ?? '';
    byId.set(id, [...(byId.get(id) ?? []), mail]);
  }
  const problems: string[] = [];
  let repeated = 0;
  for (const { id, type } of asked) {
    const same = byId.get(id) ?? [];
    byId.delete(id);
    if (same.length === 0) {
      problems.push(`no mail came for ${type} ${id}`);
      continue;
    }
    repeated += same.length - 1;
    if (new Set(same.map(({ to, email }) => `${to.join()}: ${email.text ?? ''}`)).size > 1)
      problems.push(`the mails of ${type} ${id} differ`);
    for (const { at } of same.slice(0, -1)) {
      if (!disturbedAtMs.some((ms) => Math.abs(ms - at.getTime()) < nearMs))
        problems.push(`the mail of ${type} ${id} came again after ${at.toISOString()} without a cause`);
    }
  }
  for (const [id, { length }] of byId) problems.push(`no event asks for the ${length} mails of ${id}`);
  return { problems, repeated };
}
