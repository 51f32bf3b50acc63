/** The steps of a write that a test can make fail. */
type WriteStep = 'begin' | 'statement' | 'commit';

/** Makes the `n`-th step of a kind fail, counted from 1 since the file was opened. Tests only. */
export interface Fault {
  readonly file: 'events' | 'read-models' | 'state';
  readonly step: WriteStep | 'any';
  readonly n: number;
  /** When the step fails: before its effect or after it. With `hang` it takes `hangMs` first and then succeeds. */
  readonly when: 'before' | 'after' | 'hang';
  /** SQLite's code of the error, for example `SQLITE_IOERR_FSYNC`. */
  readonly code?: string;
  readonly hangMs?: number;
}

/** Runs the effect of a step of a write, and may make it fail. */
export type Intercept = <T>(step: WriteStep, effect: () => T) => T;

export function makeIntercept(faults: readonly Fault[]): Intercept {
  if (faults.length === 0) return (_, effect) => effect();
  const counts = { begin: 0, statement: 0, commit: 0, any: 0 };
  return (step, effect) => {
    counts[step] += 1;
    counts.any += 1;
    const fault = faults.find((each) => each.n === counts[each.step] && [step, 'any'].includes(each.step));
    if (fault === undefined) return effect();
    if (fault.when === 'hang') block(fault.hangMs ?? 0);
    if (fault.when === 'before') throw failed(fault);
    const result = effect();
    if (fault.when === 'after') throw failed(fault);
    return result;
  };
}

function failed({ code = 'SQLITE_BUSY' }: Fault): Error {
  return Object.assign(new Error('injected fault'), { code });
}

/** Blocks the thread, like a disk that does not answer. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
