import { createHash } from 'node:crypto';

/** A process, and the parts that its code can feed. */
export interface Candidate {
  readonly id: string;
  readonly parts: readonly string[];
}

const [views, reactions, tasks] = ['view/', 'reaction/', 'task/'];
const endpoints = `${reactions}webhook-`;

/** Returns the part of a view version. All generations of the view belong to it. */
export function viewPart(viewVersion: string): string {
  return `${views}${viewVersion}`;
}

export function reactionPart(name: string): string {
  return `${reactions}${name}`;
}

/** Returns the part of an endpoint of outgoing events, which is shared as reactions are. */
export function endpointPart(id: string): string {
  return `${endpoints}${id}`;
}

/** Returns the part of work that one process does at intervals. */
export function taskPart(name: string): string {
  return `${tasks}${name}`;
}

/** The sequencing of the audit log, which reads the log as views do. */
export const auditPart = taskPart('audit-log');

export function isViewPart(part: string): boolean {
  return part.startsWith(views);
}

/** Returns whether the part is a reaction of the service, and no endpoint. */
export function isReactionPart(part: string): boolean {
  return part.startsWith(reactions) && !part.startsWith(endpoints);
}

/** Names a part in a sentence: "the view users@1". */
export function nameOf(part: string): string {
  return `the ${part.replace('/', ' ')}`;
}

/**
 * Returns the id of the process that feeds a part; null when the code of none can. It is the candidate with the highest
 * hash of part and id, so candidates that come and go move only their own parts. Source: Thaler and Ravishankar, "Using
 * Name-Based Mappings to Increase Hit Rates" (1998), rendezvous hashing.
 *
 * Views, reactions and the audit log hash as one, so one process reads the log for all of them. Each further reader of the log would take
 * every event from the server again (docs/decisions/0086-one-process-reads-the-log-for-all.md).
 */
export function feederOf(part: string, candidates: readonly Candidate[]): string | null {
  const isAlone = part.startsWith(tasks) && part !== auditPart;
  const key = isAlone ? part : 'log';
  let feeder: string | null = null;
  let highest = '';
  for (const { id, parts } of candidates) {
    if (!parts.includes(part)) continue;
    const weight = createHash('sha256').update(`${key}\n${id}`).digest('hex');
    if (weight > highest) [feeder, highest] = [id, weight];
  }
  return feeder;
}
