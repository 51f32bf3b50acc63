import type { Random } from '../../../../../src/kit/time/clock.js';
import type { PaymentProviderName } from '../../../../../src/areas/payments/domain/payment.js';
import type { PaymentProvider } from '../../../../../src/areas/payments/platforms/payment-provider.js';
import { arrivesAt } from './messages.js';
import {
  asCallback,
  platformUnderTest,
  type Vector,
  type VectorFile,
  verifiedBy,
} from '../vectors/vectors.js';

/** A callback that was made from genuine ones, and the name of the attack. */
export interface Mutant {
  readonly attack: string;
  readonly vector: Vector;
  readonly body?: Buffer;
  readonly receivedAt?: Date;
}

const parts = ({ headers, body, query }: Vector): readonly (readonly [string, string])[] =>
  [...Object.entries(headers), ['body', body] as const, ['query', query] as const].filter(
    ([, text]) => text !== '',
  );

function withPart(vector: Vector, name: string, text: string): Vector {
  if (name === 'body' || name === 'query') return { ...vector, [name]: text };
  return { ...vector, headers: { ...vector.headers, [name]: text } };
}

const character = (code: number): string => String.fromCharCode(code & 0x7f);

/** Yields each character of every part, changed in each of these ways. */
export function* everyByteChanged(vector: Vector): Generator<Mutant> {
  for (const [name, text] of parts(vector)) {
    for (let place = 0; place < text.length; place += 1) {
      const [before, code, after] = [text.slice(0, place), text.charCodeAt(place), text.slice(place + 1)];
      const twice = text.charAt(place).repeat(2);
      const changed = [character(code ^ 1), character(code ^ 0x20), '', twice, '%', ' '];
      for (const instead of changed) {
        if (instead === text.charAt(place)) continue;
        const attack = `${name}[${place}] is ${JSON.stringify(instead)}`;
        yield { attack, vector: withPart(vector, name, `${before}${instead}${after}`) };
      }
    }
  }
}

/** Makes wrong callbacks, like an attacker who has seen all of the genuine ones. */
export function makeMutants({ vectors, again, negatives }: VectorFile, random: Random): () => Mutant {
  const genuine = [...vectors, ...again];
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  const place = (text: string): number => below(text.length + 1);
  const junk = [
    '',
    ' ',
    '\0',
    '\n',
    '&',
    '=',
    '+',
    '%00',
    '%',
    ',',
    '.',
    '|',
    '"',
    '{',
    '}',
    'é',
    '__proto__',
    '9',
    '-',
    'success',
  ];

  function onPart(vector: Vector, change: (text: string) => string): Vector {
    const [name, text] = pick(parts(vector));
    return withPart(vector, name, change(text));
  }

  /** Changes of the text of one part. */
  const ofText: Readonly<Record<string, (text: string) => string>> = {
    'junk within': (text) => {
      const at = place(text);
      return text.slice(0, at) + pick(junk) + text.slice(at);
    },
    'cut off': (text) => text.slice(0, below(text.length)),
    'a piece taken out': (text) => {
      const at = place(text);
      return text.slice(0, at) + text.slice(at + 1 + below(20));
    },
    'a piece moved': (text) => {
      const [from, to] = [place(text), place(text)];
      const piece = text.slice(from, from + 1 + below(30));
      const rest = text.slice(0, from) + text.slice(from + piece.length);
      return rest.slice(0, to) + piece + rest.slice(to);
    },
    'a digit changed': (text) => text.replace(/\d(?=\D*$)/, () => String(below(10))),
    'an amount changed': (text) => text.replace(/9\.?99|69(\.00)?/, () => pick(['1', '0.01', '999999'])),
    'other case': (text) => pick([text.toUpperCase(), text.toLowerCase()]),
    'parameters more': (text) => {
      const name = pick(['sign', 'money', 'total_amount', 'zz', 'trade_status', '__proto__']);
      return `${text}&${name}=${pick(['', '1', 'x'])}`;
    },
    'a long part': (text) => text + pick(['a', '&a=b', ' v1,x', ',v1=0', '%41', '[', '{"a":']).repeat(2_000),
  };

  type Headers = Readonly<Record<string, string>>;
  const ofHeaders: Readonly<Record<string, (headers: Headers) => Record<string, string>>> = {
    'a header left out': (headers) => {
      const gone = pick([...Object.keys(headers), '']);
      return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== gone));
    },
    'a header twice': (headers) => {
      const [name, text] = pick<readonly [string, string]>([...Object.entries(headers), ['x', 'y']]);
      return { ...headers, [name]: `${text}, ${pick([text, 'x', ''])}` };
    },
    'headers that objects inherit': (headers) => {
      const changed = Object.create(null) as Record<string, string>;
      for (const name of Object.keys(headers)) changed[name] = pick(['__proto__', 'constructor', 'toString']);
      return changed;
    },
  };

  const ofVector: Readonly<Record<string, (vector: Vector) => Partial<Mutant>>> = {
    'another genuine part': (vector) => {
      const [name, text] = pick(parts(pick(genuine)));
      return { vector: withPart(vector, name, text) };
    },
    'the other method': (vector) => ({
      vector: {
        ...{ ...vector, body: vector.query, query: vector.body },
        method: vector.method === 'GET' ? 'POST' : 'GET',
      },
    }),
    'bytes that are no text': (vector) => {
      const body = Buffer.from(vector.body);
      for (let count = 1 + below(4); count > 0 && body.length > 0; count -= 1)
        body.writeUInt8(below(256), below(body.length));
      return { body };
    },
    'at another time': () => {
      const seconds = pick([-400_000, -3_000, -301, 301, 3_000, 400_000]);
      return { receivedAt: new Date(arrivesAt.getTime() + seconds * 1_000) };
    },
    'a wrong one': () => ({ vector: pick(negatives) }),
  };

  const attacks: readonly (readonly [string, (vector: Vector) => Partial<Mutant>])[] = [
    ...Object.entries(ofText).map(
      ([attack, change]) => [attack, (vector: Vector) => ({ vector: onPart(vector, change) })] as const,
    ),
    ...Object.entries(ofHeaders).map(
      ([attack, change]) =>
        [attack, (vector: Vector) => ({ vector: { ...vector, headers: change(vector.headers) } })] as const,
    ),
    ...Object.entries(ofVector),
  ];
  return () => {
    const [[attack, make], vector] = [pick(attacks), pick(genuine)];
    return { attack, vector, ...make(vector) };
  };
}

/**
 * Makes the judge of mutants. A mutant may be verified only if it has the meaning of a genuine callback (see
 * `PlatformUnderTest`).
 * @returns the problem of a mutant, or null
 */
export async function makeJudge(
  name: PaymentProviderName,
  provider: PaymentProvider,
  { vectors, again }: VectorFile,
): Promise<(mutant: Mutant) => Promise<{ readonly accepted: boolean; readonly problem: string | null }>> {
  const { meaningOf, lateMs } = await platformUnderTest(name);
  const digests = new Map<string, string>();
  for (const vector of [...vectors, ...again]) {
    const callback = asCallback(vector);
    digests.set(meaningOf(callback), (await verifiedBy(provider, callback)).digest);
  }
  return async ({ attack, vector, body, receivedAt = arrivesAt }) => {
    const callback = { ...asCallback(vector, receivedAt), ...(body === undefined ? {} : { body }) };
    const verification = await provider.verify(callback);
    if (verification.kind !== 'verified') return { accepted: false, problem: null };
    const { digest, notifications } = verification.callback;
    const shown = provider.get === 'shows' && callback.method === 'GET';
    const tellsNothing = notifications.every(({ fact }) => fact.kind === 'nothing');
    const known = digests.get(meaningOf(callback));
    const isLate = Math.abs(receivedAt.getTime() - arrivesAt.getTime()) > (lateMs ?? Infinity);
    const isRight = shown ? tellsNothing && known !== undefined : digest === known;
    const problem = isRight && !isLate ? null : `${attack}: ${vector.title}`;
    return { accepted: true, problem };
  };
}
