/*
 * The worst inputs of each reader of outside data (src/outgoing/README.md#reading-outside-data). The test counts operations, and not
 * time: the blocks of JavaScript that ran, as the engine counts them, and what the readers tell the pace of the process. A
 * pattern counts as one operation, so no reader may search outside text of more than a line with one that backtracks.
 */
import { Session } from 'node:inspector';
import test from 'ava';
import { readPlaylist } from '../src/areas/assets/domain/playlist.js';
import { verifyAlipay } from '../src/areas/payments/platforms/alipay/alipay-callbacks.js';
import { verifyEpay } from '../src/areas/payments/platforms/epay/epay.js';
import { parseStandardSecret, verifyStandard } from '../src/areas/payments/platforms/standard/standard.js';
import { verifyStripe } from '../src/areas/payments/platforms/stripe/stripe.js';
import { signPlaylist, writePlaylist } from '../src/areas/shares/commands/playlists/kept-playlists.js';
import { makeListObjects } from '../src/areas/storages/bucket/objects/list-objects.js';
import { makeMultipart } from '../src/areas/storages/bucket/objects/multipart.js';
import { makeStorageUrls } from '../src/areas/storages/bucket/signing/media-urls.js';
import { withCorsRule } from '../src/areas/storages/bucket/probing/bucket-cors.js';
import { failureOfReply } from '../src/areas/storages/bucket/probing/probe-failure.js';
import { corsRuleFields } from '../src/areas/storages/domain/delivery/cors-rule.js';
import { parseNote } from '../src/areas/audit/tree/note.js';
import { CommandRejected } from '../src/event-sourcing/ports/errors.js';
import { findJsonFlaw } from '../src/http/body/json-body.js';
import { type Pace, processPace, turnBytesMax, turnElementsMax } from '../src/kit/read-in-turns.js';
import { providerOf } from './areas/payments/platforms/vectors/vectors.js';

interface Reader {
  readonly name: string;
  /** The bytes of the smaller input; the larger one has twice as many. */
  readonly bytes: number;
  /** Whether it yields between pieces. The others read at most 64 KiB at once. */
  readonly isPaced: boolean;
  readonly read: (text: string) => Promise<unknown>;
  /** What the input consists of: a beginning, a repeated part (by its place) and an end. */
  readonly inputs: readonly (readonly [begin: string, repeated: (place: number) => string, end: string])[];
}

const place = { protocol: 'https:', host: 'media.example.org', pathPrefix: '/' } as const;
const urls = makeStorageUrls(
  {
    ...{ provider: 's3', ...place, client: place, bucket: 'media', region: 'eu-west-1' },
    ...{ cdnDomain: '', mode: 'origin' },
  },
  { id: 'an-id', secret: 'a-secret' },
);
const now = () => new Date('2026-11-23T03:00:00Z');
const httpOf = (text: string) => () => Promise.resolve({ status: 200, headers: {}, body: Buffer.from(text) });

/** Parts of documents that cost a parser the most. */
const xmlParts: readonly ((place: number) => string)[] = [
  ...[
    '<CORSRule>',
    '<a/>',
    '<a></a>',
    '<a b="c"/>',
    '&#97;',
    '&amp;',
    '&lol;',
    '<!-- -->',
    '<![CDATA[a]]>',
    '<?a b?>',
  ],
  ...['a', ' ', ']]>', '<', '&', '<!', '"', '<CORSRule><AllowedOrigin>*</AllowedOrigin></CORSRule>'],
].map((text) => () => text);
const xmlInputs = (root: string): Reader['inputs'] => [
  ...xmlParts.map((part): Reader['inputs'][number] => [`<${root}>`, part, `</${root}>`]),
  [`<${root}`, (at) => ` a${at}="b"`, '/>'],
  [`<${root}`, (at) => ` xmlns:a${at}="b"`, '/>'],
  ['<', () => 'a', '/>'],
  ['<!DOCTYPE a [<!ENTITY a "a">', (at) => `<!ENTITY b${at} "&a;&a;">`, ']><a>&a;</a>'],
  [`<${root}><Message>`, () => "expecting '", `</Message></${root}>`],
  [`<${root}><Endpoint>`, () => 'oss-a.', `</Endpoint></${root}>`],
  [`<${root}><IsTruncated>true</IsTruncated>`, () => '<Part><ETag>"""""</ETag></Part>', `</${root}>`],
  [`<${root}>`, (at) => `<Contents><Key>${at}</Key><Size>1</Size><ETag>""</ETag></Contents>`, `</${root}>`],
  [
    `<${root}><IsTruncated>false</IsTruncated><Contents><Size>1</Size><Key>`,
    () => '+',
    `</Key></Contents></${root}>`,
  ],
];
const values = ['a', '%41', '%26', '%26a', '%26a=', '&a', '=', '+', '%'].map((text) => () => text);
const formInputs = (begin: string): Reader['inputs'] => [
  ...values.map((part): Reader['inputs'][number] => [`${begin}&name=`, part, '']),
  [begin, (at) => (at < 90 ? `&f${at}=${'%26a'.repeat(180)}` : ''), ''],
];
const alipay = providerOf('alipay', verifyAlipay({ appId: '1', sellerId: '2', publicKeys: [] }));
const epay = providerOf('epay', verifyEpay({ pid: '1', keys: ['a-key'] }));
const callback = (text: string) =>
  ({ method: 'POST', headers: {}, query: '', body: Buffer.from(text), receivedAt: now() }) as const;
const standard = verifyStandard({
  checks: [parseStandardSecret(Buffer.alloc(32, 7).toString('base64'))].flatMap((check) => check ?? []),
});
const stripe = verifyStripe({ secrets: ['whsec_a'], livemode: undefined });
const seconds = String(now().getTime() / 1_000);
/** The headers of a wrong signature, by platform. */
const wrong = {
  standard: { 'webhook-id': 'a', 'webhook-timestamp': seconds, 'webhook-signature': 'v1,AAAA' },
  stripe: { 'stripe-signature': `t=${seconds},v1=${'0'.repeat(64)}` },
} as const;
const sign = (key: string) => `https://media.example.org/${key}`;

const readers: readonly Reader[] = [
  {
    ...{ name: 'CORS rules', bytes: 16_384, isPaced: true, inputs: xmlInputs('CORSConfiguration') },
    read: (text) => withCorsRule(Buffer.from(text), ['https://a.example'], corsRuleFields),
  },
  {
    ...{ name: 'errors', bytes: 16_384, isPaced: true, inputs: xmlInputs('Error') },
    read: (text) => failureOfReply('list', { status: 403, headers: {}, body: Buffer.from(text) }),
  },
  {
    ...{ name: 'lists', bytes: 16_384, isPaced: true, inputs: xmlInputs('ListBucketResult') },
    read: (text) =>
      makeListObjects({ http: httpOf(text), now })({
        urls,
        provider: 's3',
        prefix: '',
        token: null,
        limit: 200,
      }),
  },
  {
    ...{ name: 'lists of parts', bytes: 16_384, isPaced: true, inputs: xmlInputs('ListPartsResult') },
    read: (text) =>
      makeMultipart({ http: httpOf(text), now }).listParts({
        ...{ urls, key: 'a', bucketUploadId: 'u', after: 0, limit: 1_000 },
      }),
  },
  {
    ...{ name: 'playlists', bytes: 65_536, isPaced: true },
    read: async (text) => {
      const urls = { of: sign, elements: 4 };
      return writePlaylist(await signPlaylist(Buffer.from(text), 'a/b.m3u8', urls), sign);
    },
    inputs: [
      ...[
        '\n',
        '\r',
        '\r\n',
        ' \n',
        'a.ts\n',
        '#a\n',
        '#EXTINF:4,\n',
        'a',
        'a/',
        './a/',
        '%41',
        '%',
        '\\',
      ].map((part): Reader['inputs'][number] => ['#EXTM3U\n', () => part, '\n']),
      ...['URI="a",', 'A=b,', 'A="', '"', ',', 'URI='].map((part): Reader['inputs'][number] => [
        '#EXTM3U\n#EXT-X-MAP:',
        (at) => (at % 1_000 === 999 ? '\n#EXT-X-MAP:' : part),
        '\n',
      ]),
      ['#EXTM3U\n#EXT-X-MAP:', (at) => (at % 1_000 === 999 ? '\n#EXT-X-MAP:' : `A${at}=b,`), '\n'],
      ['#EXTM3U\n', (at) => `#EXT-X-STREAM-INF:BANDWIDTH=1\n${at}.m3u8\n`, ''],
      ['#EXTM3U\n', (at) => (at % 500 === 499 ? 'b.ts\n' : 'a/'), '\n'],
    ],
  },
  {
    ...{
      name: 'forms of Alipay',
      bytes: 32_000,
      isPaced: false,
      inputs: formInputs('sign_type=RSA2&sign=AAAA'),
    },
    read: (text) => alipay.verify(callback(text)),
  },
  {
    ...{ name: 'forms of epay', bytes: 32_000, isPaced: false },
    inputs: formInputs(`pid=1&sign=${'a'.repeat(32)}`),
    read: (text) => epay.verify(callback(text)),
  },
  {
    ...{ name: 'callbacks of Stripe', bytes: 131_072, isPaced: true, inputs: [['', () => 'a', '']] },
    read: (text) => stripe({ ...callback(text), headers: wrong.stripe }),
  },
  {
    ...{
      name: 'callbacks of Standard Webhooks',
      bytes: 131_072,
      isPaced: true,
      inputs: [['', () => 'a', '']],
    },
    read: (text) => standard({ ...callback(text), headers: wrong.standard }),
  },
  {
    ...{ name: 'notes of witnesses', bytes: 32_768, isPaced: false },
    read: (text) => Promise.resolve(parseNote(text)),
    inputs: ['— a AAAAAAAA\n', '— ', '\n', 'A', '—'].map((part) => ['a\n1\n\n', () => part, '\n'] as const),
  },
  {
    ...{ name: 'JSON bodies', bytes: 32_768, isPaced: false },
    read: (text) => Promise.resolve(findJsonFlaw(text, 20)),
    inputs: [
      ['[', () => '[],', '0]'],
      ['[', () => '"\\u0041",', '0]'],
      ['["', () => '\\"', '"]'],
      ['{', (at) => `"a${at}":0,`, '"b":0}'],
      ['[', () => '0,', '0]'],
    ],
  },
];

/** Writes an input of about as many bytes. */
function inputOf([begin, repeated, end]: Reader['inputs'][number], bytes: number): string {
  const parts = [begin];
  let length = begin.length + end.length;
  for (let at = 0; length < bytes; at += 1) {
    const part = repeated(at);
    parts.push(part);
    length += Math.max(1, part.length);
  }
  return [...parts, end].join('');
}

interface Turn {
  bytes: number;
  elements: number;
}

interface Counted {
  readonly operations: number;
  readonly turns: readonly Turn[];
  /** Turns of the event loop that other work had. */
  readonly yields: number;
}

// The engine counts the blocks of functions that it compiles from here on. Readers are compiled at their first call.
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

/** Returns how many blocks ran in the sources and in the parser since the last call. A call costs as much as a read. */
function takeOperations(): number {
  let sum = 0;
  session.post('Profiler.takePreciseCoverage', (error, taken) => {
    if (error !== null) throw error;
    for (const { url, functions } of taken.result) {
      if (!/\/dist\/src\/|\/saxes\//.test(url)) continue;
      for (const { ranges } of functions) for (const { count } of ranges) sum += count;
    }
  });
  return sum;
}

async function count(reader: Reader, text: string): Promise<Counted> {
  const turns: Turn[] = [{ bytes: 0, elements: 0 }];
  let [yields, isOver] = [0, false];
  const tick = (): void => {
    yields += 1;
    if (!isOver) setImmediate(tick);
  };
  const spend = processPace.spend.bind(processPace);
  // All readers of a process share its pace, so this is where each of them says what it reads.
  const counting: Pace = {
    spend: (work) => {
      const wait = spend(work);
      if (wait !== undefined) turns.push({ bytes: 0, elements: 0 });
      const turn = turns.at(-1);
      if (turn !== undefined) {
        turn.bytes += work.bytes;
        turn.elements += work.elements;
      }
      return wait;
    },
  };
  // The pace begins with a fresh turn.
  await new Promise(setImmediate);
  Object.assign(processPace, counting);
  setImmediate(tick);
  try {
    await reader.read(text).catch((error: unknown) => {
      if (!(error instanceof CommandRejected)) throw error;
    });
    return { operations: takeOperations(), turns, yields };
  } finally {
    isOver = true;
    Object.assign(processPace, { spend });
  }
}

for (const reader of readers) {
  test.serial(`The work on the worst ${reader.name} grows no faster than the input`, async (t) => {
    for (const input of reader.inputs) {
      const [small, large] = [inputOf(input, reader.bytes), inputOf(input, 2 * reader.bytes)];
      // The first run fills caches.
      await count(reader, inputOf(input, reader.bytes / 16));
      const [once, twice] = [await count(reader, small), await count(reader, large)];
      const what = `${large.slice(0, 60)}: ${once.operations} and ${twice.operations} operations`;
      t.true(twice.operations <= 2.2 * once.operations + 2_000, what);
      t.true(twice.operations <= 40 * large.length + 20_000, what);
      if (!reader.isPaced) continue;
      for (const { bytes, elements } of twice.turns) {
        t.true(
          bytes <= turnBytesMax && elements <= turnElementsMax,
          `${what}: ${bytes} ${elements} in a turn`,
        );
      }
      t.true(twice.yields >= twice.turns.length - 1, `${what}: ${twice.yields} yields`);
    }
  });
}

test('A reader tells the pace every byte and every element that it reads', async (t) => {
  const total = async (name: string, text: string) => {
    const reader = readers.find((one) => one.name === name);
    if (reader === undefined) throw new Error(`there is no reader of ${name}`);
    const { turns } = await count(reader, text);
    return {
      bytes: turns.reduce((sum, turn) => sum + turn.bytes, 0),
      elements: turns.reduce((sum, turn) => sum + turn.elements, 0),
    };
  };
  const rules = `<CORSConfiguration>${'<a b="c">&#97;</a>'.repeat(3_000)}</CORSConfiguration>`;
  const ofRules = await total('CORS rules', rules);
  t.is(ofRules.bytes, rules.length);
  t.true(ofRules.elements >= 3 * 3_000, 'elements, attributes and entities');
  for (const [reader, root, entry] of [
    ['lists', 'ListBucketResult', '<Contents><Key>a%41</Key><Size>1</Size></Contents>'],
    [
      'lists of parts',
      'ListPartsResult',
      '<Part><PartNumber>1</PartNumber><Size>1</Size><ETag>e</ETag></Part>',
    ],
  ] as const) {
    const entries = 1_000;
    const list = `<${root}><IsTruncated>false</IsTruncated>${entry.repeat(entries)}</${root}>`;
    // The reader of errors reads the elements, and nothing in them.
    const [whole, parsed] = [await total(reader, list), await total('errors', list)];
    t.true(whole.elements >= parsed.elements + 2 * entries, reader);
    t.true(whole.bytes >= parsed.bytes + 3 * entries, reader);
  }
  const lines = 9_000;
  const playlist = `#EXTM3U\n${'a.ts\n'.repeat(lines)}`;
  const ofPlaylist = await total('playlists', playlist);
  t.true(ofPlaylist.bytes >= playlist.length - lines);
  t.true(ofPlaylist.elements >= lines);
  const body = 'a'.repeat(200_000);
  for (const name of ['callbacks of Stripe', 'callbacks of Standard Webhooks']) {
    const { bytes } = await total(name, body);
    t.true(bytes >= body.length && bytes < body.length + 100, name);
  }
  t.is([...readPlaylist(Buffer.from(playlist), 'a')].flatMap(({ parts }) => parts).length, 2 * lines + 1);
});
