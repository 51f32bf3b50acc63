import test from 'ava';
import fc from 'fast-check';
import { makeClientIp, ipBuckets } from '../../../src/security/rates/client-ip.js';
import { parseEmailAddress } from '../../../src/validation/email-address.js';

test('An address is trimmed and kept as given, and lower-cased for comparison', (t) => {
  t.deepEqual(parseEmailAddress(' John.Doe+Tag@Example.COM\n'), {
    address: 'John.Doe+Tag@Example.COM',
    canonical: 'john.doe+tag@example.com',
    localPart: 'John.Doe+Tag',
  });
  t.is(parseEmailAddress('Jose\u0301@example.com')?.address, 'Jos\u00e9@example.com', 'kept in NFC');
});

test('An address that mail cannot reach is refused', (t) => {
  const refused = [
    '',
    '@',
    'a',
    'a@',
    '@example.com',
    'a@b',
    'a@@example.com',
    'a b@example.com',
    '.a@example.com',
    'a.@example.com',
    'a..b@example.com',
    '"a"@example.com',
    'a(x)@example.com',
    '<a@example.com>',
    'A <a@example.com>',
    'a@example.com,b@example.com',
    'a@example.com\r\nBcc: b@example.com',
    'a\0@example.com',
    'a@example..com',
    'a@.example.com',
    'a@example.com.',
    'a@-example.com',
    'a@example-.com',
    'a@exa_mple.com',
    'a@127.0.0.1',
    'a@1.2',
    'a@[127.0.0.1]',
    'a@example.0x7f',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(64)}.com`,
    `a@${'b.'.repeat(130)}com`,
    `${'ü'.repeat(33)}@example.com`,
    'a\ud800@example.com',
    'a@exam\u200bple.com',
    'a\u202e@example.com',
  ];
  for (const text of refused) t.is(parseEmailAddress(text), null, JSON.stringify(text));
  t.not(parseEmailAddress(`${'a'.repeat(64)}@example.com`), null);
  t.not(parseEmailAddress("!#$%&'*+/=?^_`{|}~-@example.com"), null);
});

test('The canonical form is idempotent, and a parsed address is one line without white space', (t) => {
  const part = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
  let parsed = 0;
  fc.assert(
    fc.property(part, part, (local, domain) => {
      const email = parseEmailAddress(`${local}@${domain}.example`);
      if (email === null) return;
      parsed += 1;
      t.is(parseEmailAddress(email.canonical)?.canonical, email.canonical);
      t.notRegex(email.address, /[\s\p{C}<>"(),:;\\]/u);
    }),
    { numRuns: 2_000, seed: 3 },
  );
  t.true(parsed > 50, `${parsed} were addresses`);
});

const proxies = ['10.0.0.0/8', '192.0.2.1', 'fd00::/8', '::ffff:172.16.0.0/108'];

test('The client is the socket, unless the socket is a trusted proxy', (t) => {
  const clientIp = makeClientIp(proxies);
  const cases: readonly (readonly [string, string | undefined, string | undefined, string])[] = [
    ['no proxy', '203.0.113.9', undefined, '203.0.113.9'],
    ['a header from a stranger', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['one proxy', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['a forged entry on the left', '10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['a chain of proxies', '10.1.2.3', '1.1.1.1, 198.51.100.1, 192.0.2.1, fd00::7', '198.51.100.1'],
    ['only proxies', '10.1.2.3', '10.9.9.9, 10.8.8.8', '10.9.9.9'],
    ['a proxy without the header', '10.1.2.3', undefined, '10.1.2.3'],
    ['an empty header', '10.1.2.3', '', '10.1.2.3'],
    ['garbage', '10.1.2.3', 'unknown', '10.1.2.3'],
    ['nothing left of garbage counts', '10.1.2.3', '1.1.1.1, not-an-ip, 10.4.4.4', '10.4.4.4'],
    ['short and octal forms', '10.1.2.3', '1.2, 010.1.1.1', '10.1.2.3'],
    ['a mapped socket', '::ffff:203.0.113.9', undefined, '203.0.113.9'],
    ['a mapped proxy', '::ffff:10.1.2.3', '::ffff:198.51.100.1', '198.51.100.1'],
    ['a mapped range', '172.16.3.4', '198.51.100.1', '198.51.100.1'],
    ['a port', '10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
    ['a bracketed address', '10.1.2.3', '[2001:DB8::1]:4711', '2001:db8::1'],
    ['a scoped socket', 'fe80::1%eth0', undefined, 'fe80::1'],
    ['a long spelling', '2001:0db8:0:0:0:0:0:0001', undefined, '2001:db8::1'],
    ['a closed socket', undefined, '1.1.1.1', '0.0.0.0'],
  ];
  for (const [name, socket, header, client] of cases) t.is(clientIp(socket, header), client, name);
});

test('The header does not count without trusted proxies', (t) => {
  t.is(makeClientIp([])('127.0.0.1', '1.1.1.1'), '127.0.0.1');
});

test('An invalid range is named in the error', (t) => {
  for (const text of [
    '',
    'x',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10/8',
    '::/129',
    '1.2.3.4/-1',
    'fe80::%1/8',
  ]) {
    t.throws(() => makeClientIp([text]), { message: `'${text}' is neither an IP address nor a CIDR range` });
  }
});

test('IPv6 clients count by network, and IPv4 clients by address', (t) => {
  t.deepEqual(ipBuckets('198.51.100.1'), [{ key: '198.51.100.1', factor: 1 }]);
  t.deepEqual(ipBuckets('2001:db8:1:2:3:4:5:6'), [
    { key: '2001:db8:1:2::/64', factor: 1 },
    { key: '2001:db8:1::/48', factor: 10 },
  ]);
  t.deepEqual(ipBuckets('2001:db8:1:2::9')[0], ipBuckets('2001:db8:1:2:ffff::1')[0]);
  t.notDeepEqual(ipBuckets('2001:db8:1:3::9')[0], ipBuckets('2001:db8:1:2::9')[0]);
});
