import type { StoredEvent } from '../../src/event-sourcing/domain-event.js';
import { refreshGraceMs, requestMsMax } from '../../src/domain/session/session.js';
import { refreshTokens } from './session-world.js';
import type { Tally } from './register-simulation.js';

/** One try of a client, in one process. */
export interface Attempt {
  readonly name: string;
  readonly kind:
    'refresh' | 'authenticate' | 'strengthen' | 'login' | 'code' | 'logout' | 'logout-all' | 'password';
  readonly commandId: string;
  /** The session that asks. */
  readonly sessionId: string;
  /** The refresh token that was presented. */
  readonly presented: string | null;
  readonly startedAt: number;
  readonly startedMs: number;
  /** The step at which the client had its answer; infinite while it has none. */
  endedAt: number;
  /** `passed`, the code of a refusal, or `unknown`. */
  outcome: string;
  /** The refresh token that came with the answer. */
  answer: string | null;
}

export interface History {
  readonly attempts: readonly Attempt[];
  readonly log: readonly StoredEvent[];
  /** No faults and no long pause. */
  readonly undisturbed: boolean;
}

interface Ending {
  readonly step: number;
  readonly what: string;
  readonly ends: (sessionId: string) => boolean;
}

/** What is wrong with a history, or null. */
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

/** Once an ending was acknowledged, nothing by the session passes that begins afterwards. */
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

/** The acknowledged endings, and which sessions each has ended. */
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

/** A code signs in once, and whatever ends sessions after it was used ends that one, too. */
function judgeCodes({ log }: History, tally: Tally): string | null {
  const used = log.filter(({ type }) => type === 'LoginCodeUsed');
  if (used.length > 1) return 'a code was used twice';
  const begun = log.filter(({ type, data }) => type === 'SessionStarted' && isByCode(data));
  for (const { data, metadata } of begun) {
    const at = log.findIndex(
      (event) => event.type === 'LoginCodeUsed' && event.metadata.command_id === metadata.command_id,
    );
    if (at === -1) return 'a session began by a code that somebody else had used';
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

/** What raised the user's session epoch. */
export function raisingIn(log: readonly StoredEvent[]): readonly StoredEvent[] {
  return log.filter(({ type }) => type === 'PasswordChanged' || type === 'SessionsRevoked');
}

/** The user's session epoch after the last event of a command. */
function epochAfter(log: readonly StoredEvent[], commandId: string): number {
  return raisingIn(log).findLastIndex(({ metadata }) => metadata.command_id === commandId) + 1;
}

/** That a session has copied at its start; one that never started ends with everything. */
function epochOf(log: readonly StoredEvent[], sessionId: string): number {
  return Number(eventsOf(log, sessionId).find(({ type }) => type === 'SessionStarted')?.data['epoch'] ?? -1);
}

export function eventsOf(log: readonly StoredEvent[], sessionId: string): readonly StoredEvent[] {
  return log.filter(({ stream }) => stream === `session-${sessionId}`);
}

/** One successor a token, one event a generation, and every answer is the token that the log knows. */
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
    if (before !== answer) return `${name} was answered another successor than somebody else`;
    successors.set(presented, answer);
  }
  return null;
}

/** Digests by generation, in the order of the log; a generation that occurs twice stands twice, and fits no answer. */
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

/** Nobody's session ends for a token that was replaced no longer than the grace ago. */
function judgeReuse({ log }: History): string | null {
  for (const { type, stream, data, metadata, recordedAt } of log) {
    const requestedMs = Date.parse(metadata.time);
    if (type !== 'RefreshTokenReuseDetected' || recordedAt.getTime() - requestedMs > requestMsMax) continue;
    const issues = eventsOf(log, stream.slice('session-'.length)).filter((event) =>
      ['SessionStarted', 'RefreshTokenRotated', 'SessionStrengthened'].includes(event.type),
    );
    const successor = issues[Number(data['refresh_generation'])];
    if (successor === undefined) return 'a current token was taken for a reused one';
    const ageMs = requestedMs - successor.recordedAt.getTime();
    if (ageMs <= refreshGraceMs) return `a token was taken for a reused one after ${String(ageMs)} ms`;
  }
  return null;
}

/** Where nothing goes wrong and nothing was ended, everybody gets what they ask for. */
function judgeCalm({ attempts, undisturbed }: History): string | null {
  const ending = attempts.some(({ kind }) => ['logout', 'logout-all', 'password'].includes(kind));
  if (!undisturbed || ending) return null;
  // Whoever comes with the code first has it.
  const codeTaken = attempts.some(({ kind, outcome }) => kind === 'code' && outcome === 'passed');
  const failed = attempts.find(
    ({ kind, outcome }) => outcome !== 'passed' && !(kind === 'code' && codeTaken),
  );
  return failed === undefined ? null : `${failed.name} ended in ${failed.outcome} for no reason`;
}
