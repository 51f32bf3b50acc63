/** Whether this process may serve. Both are asked often and must be cheap. */
export interface Readiness {
  /** Whether requests are answered: the views have once caught up. A store that is away later fails what needs it, not all. */
  serving(): boolean;
  /** Whether a balancer should send requests here: stores reachable, no projection stopped or far behind. */
  ready(): { readonly ok: boolean; readonly reasons: readonly string[] };
}
