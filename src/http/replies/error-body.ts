import type { ParameterizedContext } from 'koa';
import { cutText } from '../../validation/text.js';
import { listedProblemsMax, phraseOf } from '../../validation/field-problems.js';
import type { ErrorCode, HttpError } from './error-codes.js';
import type { HttpState } from '../server/shell.js';

/** RFC 9457, section 3. */
export const problemMediaType = 'application/problem+json';

/** Longer than a list of problems. It bounds every other message, too. */
const messageCharactersMax = 1_200;

/** Makes the body of an error (docs/api.md#25-error-body). */
export function errorBody(code: string, message: string, reason: string | null = null): string {
  return JSON.stringify({ code, message: cut(message), ...reasonOf(reason) });
}

/**
 * Makes the body of an error as RFC 9457 has it.
 * @param code in place of the code of the error
 */
export function problemBody(error: HttpError, code: string, publicUrl: string): string {
  const errors = error.problems
    .slice(0, listedProblemsMax)
    .map((problem) => ({ field: problem.field, code: problem.code, message: cut(phraseOf(problem)) }));
  return JSON.stringify({
    type: `${publicUrl}/docs#error-${error.code}`,
    title: titleOf(error.code),
    status: error.status,
    detail: cut(error.message),
    code,
    ...reasonOf(error.reason),
    errors,
  });
}

/** Browsers send 200 characters. The library's work is the square of a longer field. */
const acceptMax = 1_024;

/** Answers with an error, in the form that the client prefers: the default one, unless it asks for `application/problem+json`. */
export function sendError(ctx: ParameterizedContext<HttpState>, error: HttpError, publicUrl: string): void {
  const code = ctx.state.errorCode ?? error.code;
  const isProblem =
    ctx.get('accept').length <= acceptMax &&
    ctx.accepts('application/json', problemMediaType) === problemMediaType;
  // Without a charset, which JSON has not (RFC 8259, section 11): clients of oapi-codegen compare the whole field.
  const mediaType = isProblem ? problemMediaType : 'application/json';
  ctx.status = error.status;
  ctx.set({ ...error.headers, 'content-type': mediaType, 'cache-control': 'no-store' });
  ctx.vary('Accept');
  ctx.body = isProblem ? problemBody(error, code, publicUrl) : errorBody(code, error.message, error.reason);
}

/** Most errors have no reason. */
function reasonOf(reason: string | null): { readonly reason?: string } {
  return reason === null ? {} : { reason };
}

/** The same for every error of a code (RFC 9457, section 3.1.3). */
function titleOf(code: ErrorCode): string {
  const words = code.replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function cut(message: string): string {
  return message.length <= messageCharactersMax ? message : `${cutText(message, messageCharactersMax - 1)}…`;
}
