/** An error reply of the service. `code` is one of docs/errors-and-limits.md; `message` is for people. */
export class StowageError extends Error {
  override readonly name = 'StowageError';
  readonly status: number;
  readonly code: string;
  /** The `X-Request-Id` of the reply, for a report to the operator; null without one. */
  readonly requestId: string | null;

  constructor(
    status: number,
    body: { readonly code: string; readonly message: string },
    requestId: string | null,
  ) {
    super(body.message);
    this.status = status;
    this.code = body.code;
    this.requestId = requestId;
  }
}

interface Result<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * Returns the data of a call.
 * @throws StowageError for an error reply
 */
export async function must<Data>(call: Promise<Result<Data>>): Promise<Data> {
  const { data, error, response } = await call;
  if (response.ok) return data as Data;
  throw new StowageError(
    response.status,
    bodyOf(error, response.status),
    response.headers.get('x-request-id'),
  );
}

/** A proxy in front of the service may answer with another body. */
function bodyOf(error: unknown, status: number): { readonly code: string; readonly message: string } {
  if (typeof error === 'object' && error !== null && 'code' in error && 'message' in error) {
    const { code, message } = error;
    if (typeof code === 'string' && typeof message === 'string') return { code, message };
  }
  return { code: 'unknown', message: `the reply ${status} is not one of the service` };
}
