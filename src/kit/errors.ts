/** Returns the code of a failure of the system, such as `ENOENT`, or `unknown error`. Its message may name paths and addresses. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

/** Makes a function that returns the value for the error of a file or folder that does not exist, and throws every other error. */
export function ifMissing<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (codeOf(error) === 'ENOENT') return value;
    throw error;
  };
}

/** Returns what was thrown as an error. */
export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
