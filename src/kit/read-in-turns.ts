/** Bytes of outside data that the process reads between two yields. */
export const turnBytesMax = 65_536;
/** Elements (tags, lines, members, entries) that it reads between two yields. */
export const turnElementsMax = 1_000;

/** To decode and fold an event, or to read a document, takes as long as to read so many elements. */
export const elementsOfRecord = 20;

/** The size of a piece of reading. */
export interface Work {
  readonly bytes: number;
  readonly elements: number;
}

/**
 * Bounds what all readers of outside data read between two yields of the process, in total: a customer who sends many
 * hostile replies at once delays only readers, and no other request.
 */
export type Pace = ReturnType<typeof makePace>;

interface Waiting extends Work {
  readonly begin: () => void;
}

/** @param yieldTurn calls back after the process had its turn for other work */
export function makePace(yieldTurn: (next: () => void) => void) {
  const waiting: Waiting[] = [];
  let [bytes, elements] = [0, 0];
  let isYielding = false;
  return {
    /**
     * Waits until the turn has room for the work; readers get room in the order of their calls. Larger work than a turn gets
     * a turn for itself. @returns undefined where there is room now
     */
    spend: (work: Work): Promise<void> | undefined => {
      if (waiting.length === 0 && hasRoom(work)) {
        take(work);
        return undefined;
      }
      return new Promise((begin) => waiting.push({ ...work, begin }));
    },
  };

  function hasRoom(work: Work): boolean {
    const isFirst = bytes === 0 && elements === 0;
    return isFirst || (bytes + work.bytes <= turnBytesMax && elements + work.elements <= turnElementsMax);
  }

  function take(work: Work): void {
    bytes += work.bytes;
    elements += work.elements;
    if (isYielding) return;
    isYielding = true;
    yieldTurn(beginTurn);
  }

  function beginTurn(): void {
    isYielding = false;
    [bytes, elements] = [0, 0];
    for (let next = waiting[0]; next !== undefined && hasRoom(next); next = waiting[0]) {
      waiting.shift();
      take(next);
      next.begin();
    }
  }
}

/** The pace of this process. */
export const processPace: Pace = makePace((next) => setImmediate(next));

/** What is read between two questions to the pace. A string is cut at such a size. */
const piece = { bytes: 8_192, elements: 250 };
/** No number that is meant as one is longer. */
const numberMax = 1_000;
/** Making one takes longer than its work on a small text. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads JSON (RFC 8259, in UTF-8) from outside, as `JSON.parse` does, with yields to other work. A number has at most 1,000
 * characters. @throws Error for anything else; its message may quote the text
 */
export async function readJsonInTurns(bytes: Buffer): Promise<unknown> {
  const elements = bytes.length > turnBytesMax ? Infinity : elementsOf(bytes);
  if (elements <= turnElementsMax) {
    await processPace.spend({ bytes: bytes.length, elements });
    return JSON.parse(utf8.decode(bytes));
  }
  const steps = read(await decode(bytes));
  for (;;) {
    await processPace.spend(piece);
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Returns a bound of the elements: each but one follows a comma, a colon or a bracket. */
function elementsOf(bytes: Buffer): number {
  let elements = 1;
  // Iterating a buffer takes several times as long.
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === 0x2c || byte === 0x3a || byte === 0x5b || byte === 0x7b) elements += 1;
  }
  return elements;
}

async function decode(bytes: Buffer): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += turnBytesMax) {
    const part = bytes.subarray(at, at + turnBytesMax);
    await processPace.spend({ bytes: part.length, elements: 0 });
    parts.push(decoder.decode(part, { stream: true }));
  }
  parts.push(decoder.decode());
  return parts.join('');
}

/** An object or a list whose end is not read yet, and the key of its next value. */
type Open =
  | { readonly close: '}'; readonly value: Record<string, unknown>; key: string }
  | { readonly close: ']'; readonly value: unknown[] };

/** Reads a text, and yields after each piece. It makes one pass, without recursion. @throws SyntaxError */
function* read(text: string): Generator<undefined, unknown> {
  const open: Open[] = [];
  let [at, begun, elements] = [0, 0, 0];
  /** The value that was read last; null before the next one. */
  let found: { readonly value: unknown } | null = null;

  for (;;) {
    elements += 1;
    if (elements === piece.elements || at - begun >= piece.bytes) {
      yield;
      [begun, elements] = [at, 0];
    }
    if (skipSpaces()) continue;
    if (found === null) {
      found = yield* begin();
      continue;
    }
    const inside = open.at(-1);
    if (inside === undefined) {
      if (at < text.length) throw new SyntaxError(`there is text after the value, at ${at}`);
      return found.value;
    }
    put(inside, found.value);
    if (take(inside.close)) {
      open.pop();
      found = { value: inside.value };
    } else {
      expect(',');
      if (inside.close === '}') inside.key = yield* key();
      found = null;
    }
  }

  /** Reads a value, or the beginning of an object or a list that is not empty. */
  function* begin(): Generator<undefined, { readonly value: unknown } | null> {
    if (take('[')) {
      const list: Open = { close: ']', value: [] };
      yield* spaces();
      if (take(']')) return list;
      open.push(list);
      return null;
    }
    if (take('{')) {
      const object: Open = { close: '}', value: {}, key: '' };
      yield* spaces();
      if (take('}')) return object;
      object.key = yield* key();
      open.push(object);
      return null;
    }
    if (text[at] === '"') return { value: yield* string() };
    for (const [word, value] of words) {
      if (!text.startsWith(word, at)) continue;
      at += word.length;
      return { value };
    }
    let end = at;
    while (end - at <= numberMax && isOfNumber(text.charCodeAt(end))) end += 1;
    if (end - at > numberMax) throw new SyntaxError(`there is a long number at ${at}`);
    const value: unknown = JSON.parse(text.slice(at, end));
    at = end;
    return { value };
  }

  function* key(): Generator<undefined, string> {
    yield* spaces();
    const name = yield* string();
    yield* spaces();
    expect(':');
    return name;
  }

  /** Reads a string in parts, each of which ends before an escape or after it. */
  function* string(): Generator<undefined, string> {
    expect('"');
    const parts: string[] = [];
    for (let from = at; ; from = at) {
      let end = from;
      let code = text.charCodeAt(end);
      while (code !== 0x22 && end < text.length && end - from < piece.bytes) {
        // `\u` and four digits, or `\` and one character.
        if (code === 0x5c) end += text[end + 1] === 'u' ? 6 : 2;
        else end += 1;
        code = text.charCodeAt(end);
      }
      parts.push(JSON.parse(`"${text.slice(from, end)}"`) as string);
      at = end;
      if (take('"')) return parts.length === 1 ? String(parts[0]) : parts.join('');
      if (at >= text.length) throw new SyntaxError('a string has no end');
      yield;
    }
  }

  function* spaces(): Generator<undefined, void> {
    while (skipSpaces()) yield;
  }

  /** Skips spaces, at most a piece of them. Returns whether there are more. */
  function skipSpaces(): boolean {
    const end = at + piece.bytes;
    while (at < end && isSpace(text.charCodeAt(at))) at += 1;
    return at === end && isSpace(text.charCodeAt(at));
  }

  function take(character: string): boolean {
    if (text[at] !== character) return false;
    at += 1;
    return true;
  }

  function expect(character: string): void {
    if (!take(character)) throw new SyntaxError(`there is no ${character} at ${at}`);
  }
}

function put(inside: Open, value: unknown): void {
  if (inside.close === ']') inside.value.push(value);
  else if (inside.key !== '__proto__') inside.value[inside.key] = value;
  else {
    const own = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(inside.value, inside.key, own);
  }
}

const words = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function isOfNumber(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2d ||
    code === 0x2b ||
    code === 0x2e ||
    (code | 0x20) === 0x65
  );
}
