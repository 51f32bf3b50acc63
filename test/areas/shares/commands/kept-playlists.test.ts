import test from 'ava';
import {
  type SignedPlaylist,
  makeKeptPlaylists,
} from '../../../../src/areas/shares/commands/playlists/kept-playlists.js';
import { CommandRejected } from '../../../../src/event-sourcing/ports/errors.js';

/** Given kept playlists, with a clock that the test moves. */
function given() {
  let [nowMs, made] = [0, 0];
  const kept = makeKeptPlaylists({ steadyMs: () => nowMs });
  const signed = (size: number, isEnded: boolean): SignedPlaylist => ({ parts: ['a'.repeat(size)], isEnded });
  return {
    kept,
    advance: (ms: number) => {
      nowMs += ms;
    },
    get: (same: string, { size = 1, isEnded = true, fails = null as string | null } = {}) =>
      kept.get({ assetId: 'a', same }, async () => {
        made += 1;
        await new Promise(setImmediate);
        if (fails !== null) throw new CommandRejected(fails, 'canary');
        return signed(size, isEnded);
      }),
    made: () => made,
  };
}

test('A playlist is made once for its URLs, also for callers at the same time', async (t) => {
  const { get, made, advance } = given();
  await Promise.all([get('one'), get('one'), get('other')]);
  advance(3_600_000);
  await get('one');
  t.is(made(), 2);
});

test('A stream that is still being written is kept for a second, and a refusal for ten', async (t) => {
  const { get, made, advance } = given();
  const growing = () => get('growing', { isEnded: false });
  const refused = () => t.throwsAsync(get('refused', { fails: 'playlist_not_served' }));
  const away = () => t.throwsAsync(get('away', { fails: 'bucket_unavailable' }));
  const all = () => Promise.all([growing(), refused(), away()]);
  await all();
  t.is(made(), 3);
  advance(999);
  await all();
  t.is(made(), 4, 'only the bucket that is away was asked');
  advance(1);
  await Promise.all([growing(), refused()]);
  t.is(made(), 5);
  advance(9_000);
  await refused();
  t.is(made(), 6);
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
    kept.get({ assetId: 'a', same }, async () => {
      makings += 1;
      return Promise.resolve({ parts: Array.from({ length: 200_000 }, () => ''), isEnded: true });
    });
  for (const same of ['parts', 'others', 'parts']) await ofParts(same);
  t.is(makings, 3);
});
