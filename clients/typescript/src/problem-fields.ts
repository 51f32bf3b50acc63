/** A field of a request that is wrong. */
export interface ProblemField {
  /** Its path in the body, as `renditions.0.kind`; empty for the body itself. Other parts begin with `path.`, `query.` or `header.`. */
  readonly field: string;
  /** For example `missing`: docs/errors-and-limits.md lists all. */
  readonly code: string;
  /** For people; null where the reply tells it in its whole message only. */
  readonly message: string | null;
}

/** A display string, which escapes nothing but by percent, or a string, with the parameter `code` (RFC 9651, sections 3.3.8 and 3.3.3). */
const member = /(?:%"([^"]*)"|"((?:[^"\\]|\\["\\])*)");code=([a-z][a-z_]*)/g;

/** Reads the header `Problem-Fields`, at most 20 fields. A name that is not UTF-8 stays encoded. */
export function readProblemFields(header: string | null): readonly ProblemField[] {
  return [...(header ?? '').matchAll(member)].map(([, display, text = '', code = '']) => ({
    field: display === undefined ? text.replace(/\\(["\\])/g, '$1') : decoded(display),
    code,
    message: null,
  }));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Reads `errors` of a body as RFC 9457 has it; null for any other body. */
export function readProblems(body: unknown): readonly ProblemField[] | null {
  if (typeof body !== 'object' || body === null || !('errors' in body) || !Array.isArray(body.errors)) {
    return null;
  }
  return (body.errors as unknown[]).filter(isProblem);
}

function isProblem(value: unknown): value is ProblemField {
  if (typeof value !== 'object' || value === null) return false;
  const { field, code, message } = value as Record<string, unknown>;
  return [field, code, message].every((text) => typeof text === 'string');
}
