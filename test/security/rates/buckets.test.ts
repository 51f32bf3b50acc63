import test from 'ava';
import fc from 'fast-check';
import { defaultLimits, limitsFrom, type LimitName } from '../../../src/security/rates/limits.js';
import { makeDigests } from '../../../src/keys/sealing/digests.js';
import { ipBuckets, makeClientIp } from '../../../src/security/rates/client-ip.js';
import { parseEmailAddress } from '../../../src/validation/email-address.js';
import { makeRateLimiter } from '../../../src/security/rates/rate-limit.js';
import { makeTestClock } from '../../support/fakes/clock.js';

/* The keys by which clients and accounts are counted: no spelling of an address makes another key. */

const digests = makeDigests(Buffer.alloc(32, 1));

/** Returns the key by which failures and codes of an account are counted, or null for an invalid address. */
function accountKey(typed: string): string | null {
  const address = parseEmailAddress(typed);
  return address === null ? null : digests.email(address.canonical);
}

test('All spellings of an e-mail address that reach one account have one key', (t) => {
  const spellings: Readonly<Record<string, readonly string[]>> = {
    'ada@example.com': [
      'ADA@EXAMPLE.COM',
      ' aDa@example.Com\n',
      '\u00a0ada@example.com\u3000',
      'ada@ｅｘａｍｐｌｅ.com',
      'ada@EXAMPLE.ｃｏｍ',
    ],
    'kim@example.com': ['\u212aim@example.com', 'Kim@example.com'],
    'josé@müller.example': [
      'jose\u0301@mu\u0308ller.example',
      'JOSE\u0301@MÜLLER.EXAMPLE',
      'josé@xn--mller-kva.example',
      'josé@XN--MLLER-KVA.example',
    ],
    'ångström@example.com': ['\u212bngstr\u00f6m@example.com', 'A\u030angstro\u0308m@example.com'],
    'οδυσσεύς@example.com': ['ΟΔΥΣΣΕΎΣ@example.com', 'οδυσσεύσ@example.com'],
    'a\u0323\u0307@example.com': ['a\u0307\u0323@example.com', '\u1ea1\u0307@example.com'],
    'ıstanbul@example.com': ['ıSTANBUL@example.com'],
    'J\u030c@example.com': ['\u01f0@example.com'],
    'i̇zmir@example.com': ['İZMİR@example.com'.replace('Mİ', 'mi'), 'i\u0307zmir@example.com'],
  };
  for (const [plain, others] of Object.entries(spellings)) {
    t.not(accountKey(plain), null, plain);
    for (const other of others) t.is(accountKey(other), accountKey(plain), JSON.stringify(other));
  }
});

test('Addresses that only look alike have different keys or are invalid', (t) => {
  const apart = [
    'ada@example.com',
    'ａda@example.com',
    'аda@example.com',
    'ada@exаmple.com',
    'ada+x@example.com',
    'a.da@example.com',
  ];
  t.is(new Set(apart.map(accountKey)).size, apart.length);
  t.not(accountKey('istanbul@example.com'), accountKey('ıstanbul@example.com'));
  t.not(accountKey('strasse@example.com'), accountKey('straße@example.com'));
  for (const text of [
    'ada\u200b@example.com',
    'ada\u00ad@example.com',
    'a\u202eda@example.com',
    'ada@example。com',
    'ada@example.\u24d2om',
  ]) {
    t.is(accountKey(text), null, JSON.stringify(text));
  }
});

test('An address has one key in all cases and Unicode forms', (t) => {
  const letters = fc.stringMatching(/^[a-zà-öø-þāăąćčďēęğģňőřšťūůűźžα-ωа-я0-9.+-]{1,12}$/u);
  let keys = 0;
  fc.assert(
    // In a domain name the final sigma is a separate letter (RFC 5894, section 7.2).
    fc.property(letters, letters, (local, host) => {
      const domain = host.replaceAll('ς', 'σ');
      const plain = `${local}@${domain}.example`;
      const key = accountKey(plain);
      if (key === null) return true;
      keys += 1;
      const spellings = [plain.toUpperCase(), plain.normalize('NFD'), plain.toUpperCase().normalize('NFKD')];
      return spellings.every((other) => accountKey(` ${other}`) === key);
    }),
    { numRuns: 2_000, seed: 4 },
  );
  t.true(keys > 500, `${keys} were addresses`);
});

test('A client makes no other key by writing X-Forwarded-For', (t) => {
  const clientIp = makeClientIp(['10.0.0.0/8']);
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6()), (header) => {
      t.deepEqual(ipBuckets(clientIp('203.0.113.9', header)), [{ key: '203.0.113.9', factor: 1 }]);
      // The same holds behind the proxy, which appends the address that it received.
      const behind = clientIp('10.0.0.1', `${header}, 203.0.113.9`);
      t.deepEqual(ipBuckets(behind), [{ key: '203.0.113.9', factor: 1 }]);
    }),
    { numRuns: 500 },
  );
});

test('All addresses of an IPv6 /64 have one key in all spellings, and so has an IPv4 client', (t) => {
  const group = fc.integer({ min: 0, max: 0xffff });
  const clientIp = makeClientIp([]);
  fc.assert(
    fc.property(
      fc.array(group, { minLength: 4, maxLength: 4 }),
      group,
      fc.boolean(),
      (host, subnet, long) => {
        const text = ['2001', 'db8', '1', subnet.toString(16), ...host.map((part) => part.toString(16))]
          .map((part) => (long ? part.padStart(4, '0').toUpperCase() : part))
          .join(':');
        const expected = ipBuckets(clientIp(`2001:db8:1:${subnet.toString(16)}::1`, undefined));
        t.deepEqual(ipBuckets(clientIp(text, undefined)), expected);
        t.deepEqual(ipBuckets(clientIp(`${text}%eth0`, undefined)), expected);
      },
    ),
    { numRuns: 500 },
  );
  for (const socket of ['::ffff:203.0.113.9', '::ffff:cb00:7109', '0:0:0:0:0:ffff:203.0.113.9']) {
    t.deepEqual(ipBuckets(clientIp(socket, undefined)), [{ key: '203.0.113.9', factor: 1 }]);
  }
});

test('Every named limit holds in every stretch of a virtual day, for each client and its network', (t) => {
  const names = Object.keys(defaultLimits).filter((name): name is LimitName =>
    Object.hasOwn(defaultLimits, name),
  );
  const visit = fc.record({
    // The pauses range from none to hours.
    pause: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, fc.nat(60_000), fc.nat(7_200_000)),
    network: fc.nat(2),
    host: fc.nat(3),
    burst: fc.integer({ min: 1, max: 40 }),
  });
  for (const name of names) {
    const { limit, seconds } = defaultLimits[name];
    fc.assert(
      fc.property(fc.array(visit, { maxLength: 40 }), (visits) => {
        const clock = makeTestClock();
        const limiter = makeRateLimiter({ clock, limits: limitsFrom({}) });
        const passed = new Map<string, number[]>();
        for (const { pause, network, host, burst } of visits) {
          clock.advance(pause);
          const buckets = ipBuckets(`2001:db8:${network}:${host}::1`);
          for (let index = 0; index < burst; index += 1) {
            if (!limiter.check(name, buckets).allowed) continue;
            for (const { key } of buckets) {
              const times = passed.get(key) ?? [];
              times.push(clock.now().getTime());
              passed.set(key, times);
            }
          }
        }
        return [...passed].every(([key, times]) => {
          const factor = key.endsWith('/48') ? 10 : 1;
          const perMs = (limit * factor) / (seconds * 1_000);
          // For each pair of attempts: last - first + 1 <= limit + the attempts that were earned in between.
          let least = Infinity;
          return times.every((at, index) => {
            const ahead = index - (at - (times[0] ?? at)) * perMs;
            least = Math.min(least, ahead);
            return ahead - least + 1 <= limit * factor + 1e-6;
          });
        });
      }),
      { numRuns: 20, seed: 5 },
    );
  }
  t.pass();
});
