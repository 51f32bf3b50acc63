import type { StoredEvent } from '../../src/event-sourcing/ports/domain-event.js';
import { refreshGraceMs, requestMsMax } from '../../src/areas/accounts/domain/session/session.js';
import { refreshTokens } from './session-world.js';
import type { Tally } from './register-simulation.js';

/** One attempt of a client in one process. */
export interface Attempt {
  readonly name: string;
  readonly kind:
    'refresh' | 'authenticate' | 'strengthen' | 'login' | 'code' | 'logout' | 'logout-all' | 'password';
  readonly commandId: string;
  /** The session of the caller. */
  readonly sessionId: string;
  /** The refresh token that the client presented. */
  readonly presented: string | null;
  readonly startedAt: number;
  readonly startedMs: number;
  /** The step at which the client got its answer. Infinity while it has none. */
  endedAt: number;
  /** `passed`, the code of a refusal, or `unknown`. */
  outcome: string;
  /** The refresh token of the answer. */
  answer: string | null;
}

export interface History {
  readonly attempts: readonly Attempt[];
  readonly log: readonly StoredEvent[];
  /** Whether there were no faults and no long pause. */
  readonly undisturbed: boolean;
}

interface Ending {
  readonly step: number;
  readonly what: string;
  readonly ends: (sessionId: string) => boolean;
}

/** Returns the problem of a history, or null. */
export function judge(history: History, tally: Tally): string | null {
  for (const { kind, outcome } of history.attempts) {
    tally.set(`${kind} ${outcome}`, (tally.get(`${kind} ${outcome}`) ?? 0) + 1);
  }
  return (
    judgeEndings(history, tally) ??
    judgeCodes(history, tally) ??
    judgeRotations(history) ??
    judgeReuse(history) ??
    judgeCalm(history)
  );
}

/** Checks that no attempt by a session passes that begins after the acknowledged end of the session. */
function judgeEndings(history: History, tally: Tally): string | null {
  const endings = endingsOf(history);
  for (const attempt of history.attempts) {
    const tokensPass = ['refresh', 'authenticate', 'strengthen', 'password'].includes(attempt.kind);
    const after = endings.find(({ step, ends }) => step < attempt.startedAt && ends(attempt.sessionId));
    if (after === undefined || !tokensPass) continue;
    if (attempt.outcome === 'passed') return `${attempt.name} passed after ${after.what} was acknowledged`;
    tally.set('refused after an ending', (tally.get('refused after an ending') ?? 0) + 1);
  }
  return null;
}

/** Returns the acknowledged endings, and which sessions each has ended. */
function endingsOf({ attempts, log }: History): readonly Ending[] {
  return attempts.flatMap((attempt): Ending | readonly Ending[] => {
    const { kind, outcome, endedAt: step, name: what, sessionId } = attempt;
    if (kind === 'refresh' && outcome === 'refresh_token_reused')
      return { step, what, ends: (id) => id === sessionId };
    if (outcome !== 'passed') return [];
    if (kind === 'logout') return { step, what, ends: (id) => id === sessionId };
    if (kind !== 'logout-all' && kind !== 'password') return [];
    const epoch = epochAfter(log, attempt.commandId);
    const kept = kind === 'password' ? sessionId : null;
    return { step, what, ends: (id) => id !== kept && epochOf(log, id) < epoch };
  });
}

/** Checks that a code signs in once, and that a later end of all sessions ends the session of the code, too. */
function judgeCodes({ log }: History, tally: Tally): string | null {
  const used = log.filter(({ type }) => type === 'LoginCodeUsed');
  if (used.length > 1) return 'a code was used twice';
  const begun = log.filter(({ type, data }) => type === 'SessionStarted' && isByCode(data));
  for (const { data, metadata } of begun) {
    const at = log.findIndex(
      (event) => event.type === 'LoginCodeUsed' && event.metadata.command_id === metadata.command_id,
    );
    if (at === -1) return 'a session began by a code that another client had used';
    if (Number(data['epoch']) > raisingIn(log.slice(0, at)).length) {
      return 'a session that began by a code outlives an ending that came after the code was used';
    }
    const wasEnded = raisingIn(log).length > Number(data['epoch']);
    if (wasEnded) tally.set('code before an ending', (tally.get('code before an ending') ?? 0) + 1);
  }
  return null;
}

function isByCode(data: StoredEvent['data']): boolean {
  return Array.isArray(data['amr']) && data['amr'].includes('email');
}

/** Returns the events that raise the session epoch of the user. */
export function raisingIn(log: readonly StoredEvent[]): readonly StoredEvent[] {
  return log.filter(({ type }) => type === 'PasswordChanged' || type === 'SessionsRevoked');
}

/** Returns the session epoch of the user after the last event of a command. */
function epochAfter(log: readonly StoredEvent[], commandId: string): number {
  return raisingIn(log).findLastIndex(({ metadata }) => metadata.command_id === commandId) + 1;
}

/** Returns the epoch that a session copied at its start, or -1 for a session that never started: all endings end it. */
function epochOf(log: readonly StoredEvent[], sessionId: string): number {
  return Number(eventsOf(log, sessionId).find(({ type }) => type === 'SessionStarted')?.data['epoch'] ?? -1);
}

export function eventsOf(log: readonly StoredEvent[], sessionId: string): readonly StoredEvent[] {
  return log.filter(({ stream }) => stream === `session-${sessionId}`);
}

/** Checks for one successor a token, one event a generation, and answers that equal the tokens in the log. */
function judgeRotations({ attempts, log }: History): string | null {
  const successors = new Map<string, string>();
  for (const { name, kind, presented, answer, sessionId } of attempts) {
    if (answer === null) continue;
    const issued = issuedDigests(log, sessionId);
    if (issued[refreshTokens.verify(answer)?.generation ?? 0] !== refreshTokens.digest(answer)) {
      return `${name} was answered a token that the log does not know`;
    }
    if (kind !== 'refresh' || presented === null) continue;
    const before = successors.get(presented) ?? answer;
    if (before !== answer) return `${name} was answered another successor than another client`;
    successors.set(presented, answer);
  }
  return null;
}

/** Returns digests by generation in log order. A repeated generation appears twice and matches no answer. */
function issuedDigests(log: readonly StoredEvent[], sessionId: string): readonly unknown[] {
  const issued: unknown[] = [null];
  for (const { type, data } of eventsOf(log, sessionId)) {
    if (type === 'SessionStrengthened')
      issued.push((data['refresh'] as { refresh_token_digest: string }).refresh_token_digest);
    else if (type === 'SessionStarted' || type === 'RefreshTokenRotated')
      issued.push(data['refresh_token_digest']);
  }
  return issued;
}

/** Checks that no session ends for a token whose successor was not used, or less than 10 s ago. */
function judgeReuse({ attempts, log }: History): string | null {
  for (const { type, stream, data, metadata, recordedAt } of log) {
    if (type !== 'RefreshTokenReuseDetected') continue;
    const requestedMs = attempts.find(({ commandId }) => commandId === metadata.command_id)?.startedMs;
    if (requestedMs === undefined) return 'a reuse was detected by no request';
    if (recordedAt.getTime() - requestedMs > requestMsMax) continue;
    const issues = eventsOf(log, stream.slice('session-'.length)).filter((event) =>
      ['SessionStarted', 'RefreshTokenRotated', 'SessionStrengthened'].includes(event.type),
    );
    const [successor, next] = issues.slice(Number(data['refresh_generation']));
    const end = successor?.type === 'SessionStrengthened' ? successor : next;
    if (end === undefined) return 'a good token was taken for a reused one';
    const ageMs = requestedMs - Date.parse(end.metadata.time);
    if (ageMs <= refreshGraceMs && ageMs >= -requestMsMax)
      return `a token was taken for a reused one after ${String(ageMs)} ms`;
  }
  return null;
}

/** Checks that every attempt succeeds where nothing fails and no session was ended. */
function judgeCalm({ attempts, undisturbed }: History): string | null {
  const ending = attempts.some(({ kind }) => ['logout', 'logout-all', 'password'].includes(kind));
  if (!undisturbed || ending) return null;
  // Only the first client with the code succeeds.
  const codeTaken = attempts.some(({ kind, outcome }) => kind === 'code' && outcome === 'passed');
  const failed = attempts.find(
    ({ kind, outcome }) => outcome !== 'passed' && !(kind === 'code' && codeTaken),
  );
  return failed === undefined ? null : `${failed.name} ended in ${failed.outcome} for no reason`;
}
