/** Whether this process may serve: stores reachable, projections caught up. Asked on every request, so it must be cheap. */
export interface Readiness {
  ready(): { readonly ok: boolean; readonly reasons: readonly string[] };
}
