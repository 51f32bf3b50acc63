/** Says whether this process may serve. Callers use both functions often, so they must be cheap. */
export interface Readiness {
  /** Returns whether the views have caught up once. A store that fails later fails only the requests that need it. */
  serving(): boolean;
  /**
   * Returns whether a balancer should send requests: the stores of reads answer, no projection has stopped or is far behind. The
   * reasons also name a log that does not answer, which only writes need.
   */
  ready(): { readonly ok: boolean; readonly reasons: readonly string[] };
}
