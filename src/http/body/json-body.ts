import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import bodyParser from 'koa-bodyparser';
import type { Context } from 'koa';
import { processPace } from '../../kit/read-in-turns.js';
import { HttpError } from '../replies/error-codes.js';
import { readRawBody, saysEncoded } from './raw-body.js';

/**
 * Returns, as a sentence, a flaw that `JSON.parse` accepts: a repeated key, deep nesting, or half of a surrogate pair,
 * which UTF-8 would change. `text` is valid JSON. It makes one pass without recursion.
 */
export function findJsonFlaw(text: string, depthMax: number): string | null {
  // One entry for each open bracket: the keys of an object so far, null for an array.
  const open: (Set<string> | null)[] = [];
  let keyNext = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      const flaw = judgeString(text.slice(at, end + 1), keyNext ? open.at(-1) : null);
      if (flaw !== null) return flaw;
      keyNext = false;
      at = end;
    } else if (character === '{' || character === '[') {
      keyNext = character === '{';
      open.push(keyNext ? new Set() : null);
      if (open.length > depthMax) return `the body is nested deeper than ${depthMax} levels`;
    } else if (character === '}' || character === ']') {
      open.pop();
      keyNext = false;
    } else if (character === ',') {
      keyNext = open.at(-1) instanceof Set;
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** @param keys the keys of its object if the string is a key; none if it is a value */
function judgeString(quoted: string, keys: Set<string> | null | undefined): string | null {
  // Only escapes can make half of a pair or spell one key in two ways: the text is valid UTF-8.
  const string = quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
  if (quoted.includes('\\') && /\p{Surrogate}/u.test(string))
    return 'the body holds a string with an unpaired surrogate';
  if (keys?.has(string) === true) return 'the body repeats a key within one object';
  keys?.add(string);
  return null;
}

/** src/http/README.md#bodies */
export const bodyBytesMax = 64 * 1024;
const bodyDepthMax = 20;

/** A received body. The service checks the size before it knows the caller, and the content only after that. */
export type ReceivedBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'flawed'; readonly error: HttpError };

const emptyBody: ReceivedBody = { kind: 'empty' };

const parseJson = bodyParser({
  enableTypes: ['json'],
  // Every body is parsed as JSON. `checkContentType` refuses other types after the caller is known.
  detectJSON: () => true,
  jsonLimit: `${bodyBytesMax}b`,
  strict: false,
});

/**
 * Reads a body, without inflation, and parses it by koa-bodyparser, with checks that it lacks: UTF-8, repeated keys, depth.
 * @throws the errors of `readRawBody`
 */
export async function readBody(request: IncomingMessage): Promise<ReceivedBody> {
  const { headers } = request;
  const length = headers['content-length'];
  if (length === undefined ? headers['transfer-encoding'] === undefined : length === '0') return emptyBody;
  const bytes = await readRawBody(request, bodyBytesMax);
  if (saysEncoded(headers['content-encoding']))
    return flawed(new HttpError('unsupported_media_type', 'the body must not have a content encoding'));
  if (bytes.length === 0) return emptyBody;
  if (!isUtf8(bytes)) return flawed(new HttpError('invalid_json', 'the body is not valid UTF-8'));
  // Bodies that arrive together are parsed in several turns.
  await processPace.spend({ bytes: bytes.length, elements: 1 });
  return parse(bytes);
}

async function parse(bytes: Buffer): Promise<ReceivedBody> {
  // The parser keeps a body that arrives in pieces of one byte as a string of a node each, so it gets the gathered bytes.
  const gathered = new Readable({ read: nothing });
  gathered.push(bytes);
  gathered.push(null);
  const request: { body?: unknown } = {};
  try {
    await parseJson(
      { req: Object.assign(gathered, { headers: {} }), request } as unknown as Context,
      nothingNext,
    );
  } catch {
    // The parser's error carries the raw body, so it must not be passed on or logged.
    return flawed(new HttpError('invalid_json', 'the body is not valid JSON'));
  }
  const flaw = findJsonFlaw(bytes.toString(), bodyDepthMax);
  if (flaw !== null) return flawed(new HttpError('invalid_json', flaw));
  return { kind: 'json', value: request.body };
}

function nothing(): void {
  // All bytes were pushed.
}

async function nothingNext(): Promise<void> {
  // The parser is called as a function, so no middleware follows it.
}

/** Checks for `application/json`, with any parameters but a charset other than UTF-8 (RFC 8259, section 11). @throws HttpError 415 */
export function checkContentType(ctx: Context, body: ReceivedBody): void {
  if (body.kind === 'empty') return;
  if (body.kind === 'flawed' && body.error.code === 'unsupported_media_type') throw body.error;
  const header = ctx.req.headers['content-type'];
  if (header === 'application/json') return;
  const [type = '', ...parameters] = (header ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const isUtf8Named = parameters.every(
    (part) => !part.startsWith('charset=') || /^charset="?utf-?8"?$/.test(part),
  );
  if (type !== 'application/json' || !isUtf8Named)
    throw new HttpError('unsupported_media_type', 'the body must be application/json in UTF-8');
}

function flawed(error: HttpError): ReceivedBody {
  return { kind: 'flawed', error };
}
