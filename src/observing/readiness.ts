/** Says whether this process may serve. Callers use both functions often, so they must be cheap. */
export interface Readiness {
  /** Returns whether the views have caught up once. A store that fails later fails only the requests that need it. */
  serving(): boolean;
  /** Returns whether a balancer should send requests: all stores answer, no projection has stopped or is far behind. */
  ready(): { readonly ok: boolean; readonly reasons: readonly string[] };
}
