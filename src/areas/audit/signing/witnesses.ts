import type { SteadyClock } from '../../../kit/time/clock.js';
import type { SignedRecord } from './audit-records.js';
import { isSignedBy, type NoteVerifier, parseNote, parseSignatureLine, parseVkey } from '../tree/note.js';
import type { TreeReader } from '../tree/tree-reader.js';

/** A witness of `AUDIT_WITNESSES`: it signs that it has seen one history only (C2SP tlog-witness). */
export interface Witness {
  readonly verifier: NoteVerifier;
  /** The submission prefix: `add-checkpoint` follows it. */
  readonly url: string;
}

/** Posts text and returns the reply. @throws Error without an answer in time */
export type PostText = (
  url: string,
  body: string,
) => Promise<{ readonly status: number; readonly body: string }>;

/** The state of a witness, as this process knows it. */
export interface WitnessStatus {
  readonly name: string;
  /** The size that it cosigned last; 0 before the first. */
  readonly size: number;
  /** Why the last attempt failed; null after a cosignature. */
  readonly problem: string | null;
  /** Whether it has not answered since this process started. The first signature waits for it. */
  readonly isAwaited: boolean;
  /** What its last answer about the history shows: a contradiction, or null; undefined before such an answer. */
  readonly found: string | null | undefined;
  /** Whether it holds more events than the service has shown it, and has not done so for long enough to contradict. */
  readonly isAhead: boolean;
}

export type Witnesses = ReturnType<typeof makeWitnesses>;

export type OfferOptions = { readonly sizeMax?: number; readonly awaitedOnly?: boolean };

/** Returns what a status shows of a witness that does not cosign; null for nothing. */
export function witnessProblem({ problem, isAwaited, found = null }: WitnessStatus): string | null {
  if (found !== null || problem === null || !isAwaited) return found ?? problem;
  return `${problem}; it has not answered since the start, and the first signature waits for it`;
}

/**
 * A process may offer an older checkpoint than another one. It is recorded before the other one offers it, so a larger size
 * contradicts when the last record has been smaller for this time. A deposed primary of the state store may answer that long.
 */
const aheadMs = 5_000;
/** Lines of a reply that are looked at: each could cost the check of a signature. A witness sends one for each of its keys. */
const cosignaturesMax = 16;

/** Statuses of the class 4xx by which a server puts a request off: RFC 9110, section 15.5.9, RFC 8470, RFC 6585. */
const postponed: readonly number[] = [408, 425, 429];

/** @throws Error with a sentence that names the line, for a file of another form */
export function parseWitnesses(text: string): readonly Witness[] {
  const witnesses: Witness[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [vkey = '', url = '', ...rest] = trimmed.split(/\s+/);
    const verifier = parseVkey(vkey);
    const isUrl = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    if (verifier?.isWitness !== true || !isUrl || rest.length > 0)
      throw new Error(`line ${index + 1} of AUDIT_WITNESSES is not "<vkey of a witness> <url>"`);
    witnesses.push({ verifier, url: url.replace(/\/$/, '') });
  }
  if (new Set(witnesses.map(({ verifier }) => verifier.name)).size < witnesses.length)
    throw new Error('AUDIT_WITNESSES names a witness twice');
  return witnesses;
}

/**
 * @param deps.answered the names of the witnesses that have answered since the process started. The replies themselves are
 * those of one turn: while another process sequences, it gets later ones
 */
export function makeWitnesses(deps: {
  readonly witnesses: readonly Witness[];
  readonly answered: Set<string>;
  readonly tree: Pick<TreeReader, 'consistency'>;
  readonly post: PostText;
  readonly clock: SteadyClock;
}) {
  const states = deps.witnesses.map((witness) => ({
    ...{ witness, size: 0, problem: null as string | null },
    found: undefined as string | null | undefined,
    aheadSinceMs: null as number | null,
  }));
  type State = (typeof states)[number];
  const isAwaited = ({ witness }: State): boolean => !deps.answered.has(witness.verifier.name);
  return {
    statuses: () =>
      states.map((state) => ({
        name: state.witness.verifier.name,
        ...{ size: state.size, problem: state.problem, found: state.found },
        isAwaited: isAwaited(state),
        isAhead: state.aheadSinceMs !== null && (state.found ?? null) === null,
      })),
    /**
     * Offers a checkpoint to each witness, once.
     * @param options.sizeMax a witness that holds more events than these contradicts; the size of the checkpoint unless given
     * @param options.awaitedOnly whether to leave out witnesses that have answered since the process started
     * @returns the cosignatures that it got, by name
     */
    offer: async (
      signed: SignedRecord,
      { sizeMax = signed.size, awaitedOnly = false }: OfferOptions = {},
    ) => {
      const lines = new Map<string, string>();
      const asked = states.filter((state) => isAwaited(state) || !awaitedOnly);
      await Promise.all(
        asked.map(async (state) => {
          const line = await offerTo(state, signed, sizeMax);
          if (line !== null) lines.set(state.witness.verifier.name, line);
        }),
      );
      return lines;
    },
  };

  async function offerTo(state: State, signed: SignedRecord, sizeMax: number): Promise<string | null> {
    const { name } = state.witness.verifier;
    const known = signed.cosignatures[name]?.size ?? 0;
    try {
      const reply = await send(state, signed, Math.max(known, state.size));
      const held = reply.status === 409 ? sizeOf(reply.body) : null;
      const isBehind = held !== null && held <= signed.size && held !== reply.from;
      return take(state, { signed, sizeMax }, isBehind ? await send(state, signed, held) : reply);
    } catch (error) {
      state.problem = error instanceof Error ? error.name : 'unknown error';
      // A witness that is away must not keep the service from signing.
      state.aheadSinceMs = null;
      return null;
    }
  }

  async function send({ witness }: State, signed: SignedRecord, old: number): Promise<Reply> {
    const from = Math.min(old, signed.size);
    const proof = await deps.tree.consistency(from, signed.size);
    const lines = proof.map((hash) => `${hash.toString('base64')}\n`).join('');
    const reply = await deps.post(`${witness.url}/add-checkpoint`, `old ${from}\n${lines}\n${signed.note}`);
    return { ...reply, from };
  }

  function take(state: State, { signed, sizeMax }: Offered, reply: Reply): string | null {
    if (reply.status !== 200) {
      // A refusal is an answer. An error of a server or of a proxy says nothing about what the witness holds.
      if (reply.status >= 400 && reply.status < 500 && !postponed.includes(reply.status))
        deps.answered.add(state.witness.verifier.name);
      state.problem = `it answers ${reply.status}`;
      // Only a cosignature shows that the histories are one.
      state.found = contradictionIn(state, { signed, sizeMax }, reply) ?? state.found;
      return null;
    }
    const text = parseNote(signed.note)?.text ?? '';
    const line = reply.body.split('\n', cosignaturesMax).find((candidate) => {
      const signature = parseSignatureLine(candidate);
      return signature !== null && isSignedBy(state.witness.verifier, text, signature);
    });
    if (line === undefined) {
      state.problem = 'its reply holds no cosignature of its key';
      return null;
    }
    deps.answered.add(state.witness.verifier.name);
    Object.assign(state, { size: signed.size, problem: null, found: null, aheadSinceMs: null });
    return line;
  }

  function contradictionIn(
    state: State,
    { signed: { size }, sizeMax }: Offered,
    { status, body, from }: Reply,
  ): string | null {
    const { name } = state.witness.verifier;
    const held = status === 409 ? sizeOf(body) : null;
    if (held !== null && held > sizeMax) {
      const has = sizeMax === size ? 'the last checkpoint has' : 'the log has';
      return isAheadForLong(state)
        ? `the witness ${name} has cosigned ${held} events, and ${has} ${sizeMax}`
        : null;
    }
    // A witness that answers with an error must not keep the service from signing.
    state.aheadSinceMs = null;
    if (status === 422)
      return `the witness ${name} has seen another history: it refuses the consistency proof to ${size} events`;
    // The sizes are equal, so the roots differ. Some witnesses answer that without a size.
    const isOther = status === 409 && size > 0 && from === size && (held ?? from) === from;
    return isOther ? `the witness ${name} has cosigned another root of ${from} events` : null;
  }

  function isAheadForLong(state: State): boolean {
    const nowMs = deps.clock.steadyMs();
    state.aheadSinceMs ??= nowMs;
    return nowMs - state.aheadSinceMs >= aheadMs;
  }
}

type Offered = { readonly signed: SignedRecord; readonly sizeMax: number };

/** A reply, and the size that the request gave as the witness's own. */
type Reply = { readonly status: number; readonly body: string; readonly from: number };

/** The size that a witness holds: the body of a 409, `text/x.tlog.size`. */
function sizeOf(body: string): number | null {
  return /^\d{1,15}\n?$/.test(body) ? Number(body) : null;
}
