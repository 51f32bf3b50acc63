import { type ProblemField, readProblems } from './problem-fields.js';

/** An error reply of the service. `code` is one of docs/errors-and-limits.md; `message` is for people. */
export class StowageError extends Error {
  override readonly name = 'StowageError';
  readonly status: number;
  readonly code: string;
  /** The `X-Request-Id` of the reply, for a report to the operator; null without one. */
  readonly requestId: string | null;
  /** The fields of the request that are wrong; empty where no field is. */
  readonly fields: readonly ProblemField[];

  /** @param error the parsed body */
  constructor({ status, headers }: Pick<Response, 'status' | 'headers'>, error: unknown) {
    const { code, message } = bodyOf(error, status);
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = headers.get('x-request-id');
    this.fields = readProblems(error);
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
  throw new StowageError(response, error);
}

/** Reads both forms of an error. A proxy in front of the service may answer with another body. */
function bodyOf(error: unknown, status: number): { readonly code: string; readonly message: string } {
  if (typeof error === 'object' && error !== null) {
    const { code, message, detail } = error as Readonly<Record<string, unknown>>;
    const said = message ?? detail;
    if (typeof code === 'string' && typeof said === 'string') return { code, message: said };
  }
  return { code: 'unknown', message: `the reply ${status} is not one of the service` };
}
