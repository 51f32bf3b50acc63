import test from 'ava';
import {
  type SignedPlaylist,
  makeKeptPlaylists,
  signPlaylist,
  writePlaylist,
} from '../../../../src/areas/shares/commands/playlists/kept-playlists.js';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';
import { Overloaded } from '../../../../src/kit/semaphore.js';

/** Given kept playlists, with a clock that the test moves. */
function given() {
  let [nowMs, made] = [0, 0];
  const kept = makeKeptPlaylists({ steadyMs: () => nowMs });
  const signed = (size: number, isEnded: boolean): SignedPlaylist => ({
    ...{ body: { bytes: 'a'.repeat(size), digest: '' }, parts: [], isEnded },
  });
  return {
    kept,
    advance: (ms: number) => {
      nowMs += ms;
    },
    get: (
      same: string,
      {
        payer = 'a',
        size = 1,
        isEnded = true,
        fails = null as string | null,
        until = Promise.resolve(),
      } = {},
    ) =>
      kept.get({ payer, same }, async () => {
        made += 1;
        await new Promise(setImmediate);
        await until;
        if (fails !== null) throw new CommandRejected(fails, 'canary');
        return signed(size, isEnded);
      }),
    made: () => made,
  };
}

/** Given a bucket that is silent until the test lets it answer. */
function givenSilence() {
  let answer: () => void = () => undefined;
  const until = new Promise<void>((resolve) => (answer = resolve));
  return { until, answer: () => answer() };
}

test('A playlist is made once for its URLs, also for callers at the same time', async (t) => {
  const { get, made, advance } = given();
  await Promise.all([get('one'), get('one'), get('other')]);
  advance(3_600_000);
  await get('one');
  t.is(made(), 2);
});

test('A stream that is still being written is kept for a second, and refusals for longer', async (t) => {
  for (const [name, keptMs, how] of [
    ['growing', 1_000, { isEnded: false }],
    ['missing', 1_000, { fails: 'asset_not_found' }],
    ['away', 5_000, { fails: 'bucket_unavailable' }],
    ['refused', 5_000, { fails: 'bucket_refused' }],
    ['not served', 10_000, { fails: 'playlist_not_served' }],
  ] as const) {
    const { get, made, advance } = given();
    const ask = () => get(name, how).catch(() => undefined);
    await ask();
    advance(keptMs - 1);
    await ask();
    t.is(made(), 1, name);
    advance(1);
    await ask();
    t.is(made(), 2, name);
  }
});

test('While one caller reads a playlist again, the others get the kept one, for 5 s', async (t) => {
  const { get, made, advance } = given();
  const { until, answer } = givenSilence();
  await get('growing', { isEnded: false, size: 1 });
  advance(1_000);
  const reading = get('growing', { isEnded: false, size: 2, until });
  t.is((await get('growing')).body?.bytes.length, 1);
  advance(5_000);
  const waiting = get('growing');
  answer();
  t.is((await reading).body?.bytes.length, 2);
  t.is((await waiting).body?.bytes.length, 2);
  t.is(made(), 2);
});

test('Requests that wait for the silent bucket of one payer take 40 places, and no other payer is refused', async (t) => {
  const { get } = given();
  const { until, answer } = givenSilence();
  const waiting = Array.from({ length: 40 }, (_, n) => get(`silent ${n % 3}`, { payer: 'one', until }));
  await t.throwsAsync(get('silent 1', { payer: 'one' }), { instanceOf: Overloaded });
  await t.notThrowsAsync(get('quick', { payer: 'other' }));
  answer();
  await Promise.all(waiting);
  await t.notThrowsAsync(get('next', { payer: 'one' }));
});

test('A playlist that is larger than 8 MiB with its signed URLs is refused', async (t) => {
  // Given a URL of 1,000 bytes for each reference
  const urls = { of: (key: string) => key.padEnd(1_000, 'x'), elements: 4 };
  const written = (references: number) =>
    signPlaylist(Buffer.from('#EXTM3U\n' + '#EXTINF:4,\na.ts\n'.repeat(references)), 'film/index.m3u8', urls);
  t.is((await written(8_388)).body?.bytes.toString().split('x'.repeat(900)).length, 8_389);
  await t.throwsAsync(written(8_389), { message: /larger than 8 MiB/ });
});

test('Callers share the bytes of a playlist of objects, and get one text each where it names playlists', async (t) => {
  const urls = { of: (key: string) => `https://bucket/${key}`, elements: 4 };
  const write = async (source: string) => {
    const signed = await signPlaylist(Buffer.from(source), 'film/index.m3u8', urls);
    const written = await Promise.all(
      ['one', 'two'].map((who) => writePlaylist(signed, (key) => `${who}/${key}`)),
    );
    return written.map(({ bytes }) => bytes);
  };
  const [first, second] = await write('#EXTM3U\n#EXTINF:4,\na.ts\n');
  t.true(Buffer.isBuffer(first));
  t.is(first, second);
  t.deepEqual(await write('#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n'), [
    '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\none/film/low.m3u8\n',
    '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\ntwo/film/low.m3u8\n',
  ]);
});

test('Of more than 32 MiB, those that were asked for last are kept', async (t) => {
  const { get, made } = given();
  const size = 12 * 2 ** 20;
  for (const same of ['one', 'two', 'one', 'three', 'one']) await get(same, { size });
  t.is(made(), 3);
  await get('two', { size });
  t.is(made(), 4);
});

test('Refusals and playlists of many short parts count with what they take beside their text', async (t) => {
  const { get, made, kept } = given();
  // Given an old playlist, and so many refusals that their keys have a tenth of the bytes
  await get('old');
  for (let n = 0; n < 17_000; n += 1)
    await t.throwsAsync(get(`refused ${n}`, { fails: 'playlist_not_served' }));
  await get('old');
  t.is(made(), 17_002, 'the old playlist was made again');
  // And of two playlists of 200,000 empty parts, one is kept
  let makings = 0;
  const ofParts = (same: string) =>
    kept.get({ payer: 'a', same }, async () => {
      makings += 1;
      return Promise.resolve({ body: null, parts: Array.from({ length: 200_000 }, () => ''), isEnded: true });
    });
  for (const same of ['parts', 'others', 'parts']) await ofParts(same);
  t.is(makings, 3);
});
