import type { JsonObject } from '../../../../src/event-sourcing/ports/domain-event.js';
import { asObject } from '../../clients/service-client.js';
import type { Dice } from '../fuzz/shapes-and-dice.js';

/** What a client does with one connection. Bytes are Latin-1 text. */
export interface RawCase {
  readonly kind: RawKind;
  /** The bytes of the client, and the pause before each part in milliseconds. */
  readonly parts: readonly { readonly bytes: string; readonly pauseMs: number }[];
  /** The client repeats these bytes until the connection ends. */
  readonly drip: { readonly bytes: string; readonly everyMs: number } | null;
  /** The client waits for the server's end, ends its direction, or resets the connection. */
  readonly ending: 'wait' | 'half-close' | 'reset';
  /** Returns what is wrong with the statuses of the replies; null if they are right. */
  readonly problemOf: (statuses: readonly number[]) => string | null;
}

type RawKind =
  | 'slow headers'
  | 'slow body'
  | 'pipelining'
  | 'conflicting lengths'
  | 'huge headers'
  | 'duplicate Host'
  | 'absolute form'
  | 'bad percent'
  | 'NUL'
  | 'abort midway';

const close = 'Connection: close\r\n\r\n';

const makers: Readonly<Record<RawKind, (sender: Sender) => Omit<RawCase, 'kind'>>> = {
  'slow headers': (sender) => {
    const whole = headOf(sender, sender.dice.pick(sender.targets));
    const begun = whole.slice(0, sender.dice.pick([0, 1, 4, sender.dice.below(whole.length), whole.length]));
    const drips = begun === whole && sender.dice.chance(0.7);
    return {
      // A connection without a byte is idle, and ends at the idle limit without a reply.
      ...sentAtOnce(begun, begun === '' ? exactly() : exactly(408)),
      drip: drips
        ? { bytes: sender.dice.pick(['X-A: b\r\n', 'x']), everyMs: sender.dice.between(20, 400) }
        : null,
    };
  },
  'slow body': (sender) => {
    const { dice } = sender;
    const [length, drip] = dice.pick([
      ['Content-Length: 60000', '{'],
      ['Transfer-Encoding: chunked', '1\r\n \r\n'],
    ] as const);
    const head = headOf(sender, dice.pick(withBody(sender)));
    return {
      ...sentAtOnce(`${head}Content-Type: application/json\r\n${length}\r\n\r\n`, refusedAfterTime),
      drip: dice.chance(0.7) ? { bytes: drip, everyMs: dice.between(20, 400) } : null,
    };
  },
  pipelining: ({ dice }) => {
    const requests = Array.from({ length: dice.pick([2, 3, 8, 16, 17, 40]) }, () => dice.pick(known));
    const broken = dice.chance(0.3);
    const bytes = requests.map(({ bytes: request }) => request).join('');
    const last = broken ? 'nonsense\r\n\r\n' : `GET /healthz HTTP/1.1\r\nHost: a\r\n${close}`;
    const expected = [...requests.map(({ status }) => status), broken ? 400 : 200];
    return sentAtOnce(`${bytes}${last}`, inOrder(expected));
  },
  'conflicting lengths': (sender) => {
    const lengths = sender.dice.pick([
      'Content-Length: 2\r\nContent-Length: 3',
      'Content-Length: 2\r\nTransfer-Encoding: chunked',
      'Transfer-Encoding: chunked\r\nContent-Length: 2',
      'Transfer-Encoding: xchunked',
      'Transfer-Encoding: chunked, identity',
      'Content-Length: -1',
      'Content-Length: +2',
      'Content-Length: 2, 3',
      'Content-Length: 0x2',
      'Content-Length: 99999999999999999999999',
    ]);
    const head = headOf(sender, sender.dice.pick(withBody(sender)));
    return sentAtOnce(`${head}Content-Type: application/json\r\n${lengths}\r\n${close}{}`, exactly(400));
  },
  'huge headers': (sender) => {
    const { dice } = sender;
    const bytes = dice.pick([17, 20, 40]) * 1_024;
    const headers = dice.choose(
      () => `X-A: ${'a'.repeat(bytes)}\r\n`,
      () => `${'a'.repeat(bytes)}: b\r\n`,
      // The parser counts names and values only, so each line counts as 4 bytes.
      () => 'X-A: b\r\n'.repeat(bytes / 4),
      () => `Cookie: ${'a=b; '.repeat(bytes / 5)}\r\n`,
    );
    return sentAtOnce(`${headOf(sender, dice.pick(sender.targets))}${headers}${close}`, exactly(431));
  },
  'duplicate Host': (sender) => {
    const hosts = sender.dice.pick([
      'Host: a\r\nHost: b\r\n',
      'Host: a\r\nhost: a\r\n',
      'Host: a\r\nX-A: b\r\nHOST: c\r\n',
      'Host:\r\nHost: a\r\n',
    ]);
    return sentAtOnce(`${headOf(sender, sender.dice.pick(sender.targets), hosts)}${close}`, exactly(400));
  },
  'absolute form': (sender) => {
    const form = sender.dice.pick(['http://other.example', 'https://a', 'http://a:8080', 'ftp://a', 'a']);
    const changed = changedPath(sender, (path) => `${form}${path}`);
    // The host of the target counts no more than `Host` (RFC 9112, 3.2.2), so the path alone decides.
    return { ...changed, problemOf: form.startsWith('http') ? oneAnswer : changed.problemOf };
  },
  'bad percent': (sender) =>
    changedPath(sender, (path) => {
      const broken = ['%', '%z', '%zz', '%f', '%2', '%u0041'];
      const notUtf8 = ['%ff', '%c0%af', '%ed%a0%80'];
      // A query that is not UTF-8 is an unknown parameter, which a route refuses after it has checked the caller.
      return sender.dice.choose(
        () => `${path}${sender.dice.pick([...broken, ...notUtf8])}`,
        () => `${path}?a=${sender.dice.pick(broken)}`,
      );
    }),
  NUL: (sender) => {
    const { dice } = sender;
    if (dice.chance(0.4)) return changedPath(sender, (path) => `${path}\0`);
    const header = dice.pick(['X-A: b\0c', 'X\0A: b', 'Cookie: \0', '\0']);
    return sentAtOnce(`${headOf(sender, dice.pick(sender.targets))}${header}\r\n${close}`, exactly(400));
  },
  'abort midway': (sender) => {
    const { dice } = sender;
    const ending = dice.pick(['reset', 'half-close'] as const);
    // A client that leaves while large replies are on their way to it, or within its request.
    if (dice.chance(0.3)) {
      const replies = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(dice.between(1, 8));
      return { ...sentAtOnce(replies, anyAnswer), ending };
    }
    const body = '{"name":"Launch","note":"a client that leaves"}';
    const head = headOf(sender, dice.pick(withBody(sender)));
    const whole = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const cut = dice.between(2, whole.length - 1);
    const pause = dice.between(1, cut - 1);
    return {
      parts: [
        { bytes: whole.slice(0, pause), pauseMs: 0 },
        { bytes: whole.slice(pause, cut), pauseMs: dice.below(200) },
      ],
      ...{ drip: null, ending, problemOf: anyAnswer },
    };
  },
};

export const rawKinds = Object.keys(makers) as readonly RawKind[];

/** Makes cases of every kind in turn. All choices follow from the dice. */
export function makeCases(count: number, sender: Sender): readonly RawCase[] {
  return Array.from({ length: count }, (_, index) => {
    const kind = rawKinds[index % rawKinds.length] ?? 'NUL';
    return { kind, ...makers[kind](sender) };
  });
}

/** Requests whose status does not depend on the state of the service. */
const known = [
  { bytes: 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n', status: 200 },
  { bytes: 'GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n', status: 404 },
  { bytes: 'GET /api/v1/auth/me HTTP/1.1\r\nHost: a\r\n\r\n', status: 401 },
  { bytes: 'POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}', status: 404 },
];

function sentAtOnce(bytes: string, problemOf: RawCase['problemOf']): Omit<RawCase, 'kind'> {
  return { parts: [{ bytes, pauseMs: 0 }], drip: null, ending: 'wait', problemOf };
}

function changedPath(sender: Sender, change: (path: string) => string): Omit<RawCase, 'kind'> {
  const target: RawTarget = sender.dice.pick(sender.targets);
  const changed = { ...target, path: change(target.path) };
  return sentAtOnce(`${headOf(sender, changed)}${close}`, exactly(400));
}

const exactly =
  (...expected: readonly number[]): RawCase['problemOf'] =>
  (statuses) =>
    statuses.join() === expected.join() ? null : `[${statuses.join()}] in place of [${expected.join()}]`;

/** A request without its whole body is refused: at the time limit, or earlier for another reason. */
const refusedAfterTime: RawCase['problemOf'] = (statuses) =>
  statuses.length > 0 && statuses.every((status) => status >= 400 && status < 500)
    ? null
    : `[${statuses.join()}] in place of a refusal`;

/** A pipeline is answered in order. The server may end one that is too long after its first 17 requests. */
const inOrder =
  (expected: readonly number[]): RawCase['problemOf'] =>
  (statuses) => {
    const least = Math.min(expected.length - 1, 17);
    const right = statuses.every((status, index) => status === expected[index]);
    const complete =
      statuses.length >= least && (expected.length > 17 || statuses.length === expected.length);
    return right && complete ? null : `[${statuses.join()}] in place of [${expected.join()}]`;
  };

/** Calls that the settings leave out are 503. */
const oneAnswer: RawCase['problemOf'] = (statuses) =>
  statuses.length === 1 && statuses[0] !== 500 ? null : `[${statuses.join()}] in place of one answer`;

const anyAnswer: RawCase['problemOf'] = (statuses) =>
  statuses.some((status) => status >= 500) ? `[${statuses.join()}]` : null;

/** A request that the service serves, as far as its first line goes. */
interface RawTarget {
  readonly method: string;
  readonly path: string;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** Reads the requests of a service from its OpenAPI document. Every parameter of a path has the value of an id. */
export function targetsOf(document: JsonObject): readonly RawTarget[] {
  return Object.entries(asObject(document['paths'])).flatMap(([path, item]) =>
    Object.keys(asObject(item))
      .filter((method) => methods.includes(method))
      .map((method) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/g, '018f3b5e-7c00-7000-8000-000000000001'),
      })),
  );
}

interface Sender {
  readonly dice: Dice;
  readonly targets: readonly RawTarget[];
  /** Header lines that authenticate an account. */
  readonly authorization: string;
}

/** Returns the first bytes of a request: its line, Host and perhaps a token, without the empty line. */
function headOf({ dice, authorization }: Sender, { method, path }: RawTarget, host = 'Host: a\r\n'): string {
  return `${method} ${path} HTTP/1.1\r\n${host}${dice.chance(0.5) ? authorization : ''}`;
}

function withBody({ targets }: Sender): readonly RawTarget[] {
  return targets.filter(({ method }) => method === 'POST' || method === 'PUT' || method === 'PATCH');
}
