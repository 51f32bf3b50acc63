/** A system whose actions lead from one immutable state to the next. */
export interface Model<State> {
  readonly initial: State;
  /** Returns every action that is possible and the state after it; none at an end. */
  readonly next: (state: State) => readonly (readonly [action: string, state: State])[];
  /** Names the state. Two states with one key have the same future. */
  readonly keyOf: (state: State) => string;
  /** Returns what is wrong with a state in which no action is possible, or null. */
  readonly problemAtEnd: (state: State) => string | null;
}

interface Exploration {
  readonly states: number;
  readonly ends: number;
  /** A nearest end with a problem, and the actions that lead to it. */
  readonly problem: { readonly text: string; readonly actions: readonly string[] } | null;
}

/**
 * Visits every state that any interleaving of actions reaches, nearest first, until an end has a problem.
 * @throws Error where the model has more states than `statesMax`
 */
export function exploreInterleavings<State>(
  model: Model<State>,
  { statesMax }: { readonly statesMax: number },
): Exploration {
  /** The actions that led to a state, the last one first. It holds no state, so a state is forgotten after its visit. */
  interface Path {
    readonly action: string;
    readonly from: Path | null;
  }
  interface Visit {
    readonly state: State;
    readonly path: Path | null;
  }
  const visited = new Set([model.keyOf(model.initial)]);
  let level: readonly Visit[] = [{ state: model.initial, path: null }];
  let ends = 0;
  while (level.length > 0) {
    const following: Visit[] = [];
    for (const visit of level) {
      const steps = model.next(visit.state);
      if (steps.length === 0) {
        ends += 1;
        const text = model.problemAtEnd(visit.state);
        if (text !== null)
          return { states: visited.size, ends, problem: { text, actions: actionsOf(visit.path) } };
      }
      for (const [action, state] of steps) {
        const key = model.keyOf(state);
        if (visited.has(key)) continue;
        visited.add(key);
        if (visited.size > statesMax) throw new Error(`the model has more than ${statesMax} states`);
        following.push({ state, path: { action, from: visit.path } });
      }
    }
    level = following;
  }
  return { states: visited.size, ends, problem: null };

  function actionsOf(path: Path | null): readonly string[] {
    const actions: string[] = [];
    for (let at = path; at !== null; at = at.from) actions.unshift(at.action);
    return actions;
  }
}
