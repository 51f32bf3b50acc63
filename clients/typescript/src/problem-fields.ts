/** A field of a request that is wrong. */
export interface ProblemField {
  /** Its path in the body, as `renditions.0.kind`; empty for the body itself. Other parts begin with `path.`, `query.` or `header.`. */
  readonly field: string;
  /** For example `missing`: docs/errors-and-limits.md lists all. */
  readonly code: string;
  /** For people. */
  readonly message: string;
}

/** Reads `errors` of a body as RFC 9457 has it. A proxy in front of the service may answer with another body. */
export function readProblems(body: unknown): readonly ProblemField[] {
  if (typeof body !== 'object' || body === null || !('errors' in body) || !Array.isArray(body.errors)) {
    return [];
  }
  return (body.errors as unknown[]).filter(isProblem);
}

function isProblem(value: unknown): value is ProblemField {
  if (typeof value !== 'object' || value === null) return false;
  const { field, code, message } = value as Record<string, unknown>;
  return [field, code, message].every((text) => typeof text === 'string');
}
