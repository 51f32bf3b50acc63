import test from 'ava';
import { assetAggregate } from '../../../../src/areas/assets/domain/asset/asset.js';
import type { AssetEvent } from '../../../../src/areas/assets/domain/asset/events.js';
import { type AssetFacts, checkAssetFacts } from '../../../../src/areas/assets/domain/asset/changes.js';
import { assetSizeMax } from '../../../../src/areas/assets/domain/asset/upload.js';
import { keyRuleOf, widestKeyRule } from '../../../../src/areas/storages/domain/bucket/bucket.js';
import { assetDescription as description, assetFacts as facts } from '../../../support/examples/asset.js';
import { otherProjectId, projectId } from '../../../support/examples/ids.js';
import { given } from '../../../support/given/given.js';

const added: AssetEvent = { type: 'AssetAdded', data: description };
const bytes = 1_048_576 + 20_480;
const removed: AssetEvent = { type: 'AssetRemoved', data: { project_id: projectId, bytes } };

test('An asset is added once', (t) => {
  given(assetAggregate).when({ type: 'Add', description }).then(t, added);
});

test('An asset is renamed', (t) => {
  const rename = { type: 'Change', projectId, changes: { name: 'Rhine at dusk' } } as const;
  given(assetAggregate, added)
    .when(rename)
    .then(t, { type: 'AssetRenamed', data: { name: rename.changes.name } });
  given(assetAggregate, added, removed).when(rename).thenRejected(t, 'asset_not_found');
});

test('An asset is removed once', (t) => {
  const remove = { type: 'Remove', projectId } as const;
  given(assetAggregate, added).when(remove).thenEnds(t, 'asset_not_found', removed);
  given(assetAggregate).when(remove).thenRejected(t, 'asset_not_found');
});

test('An asset does not exist for another project', (t) => {
  const asset = given(assetAggregate, added);
  for (const command of [
    { type: 'Change', projectId: otherProjectId, changes: { name: 'Rhine at dusk' } },
    { type: 'Remove', projectId: otherProjectId },
  ] as const) {
    asset.when(command).thenRejected(t, 'asset_not_found');
  }
});

const check = (changes: Partial<AssetFacts>, keyRule = widestKeyRule) =>
  checkAssetFacts({ ...facts, ...changes }, keyRule);

test('A description within the limits is accepted as it is', (t) => {
  t.deepEqual(check({}), facts);
  t.is(check({ name: `  ${'é'.repeat(252)} ` }).name, 'é'.repeat(252), 'white space counts as well');
  t.is(check({ name: 'é'.repeat(255) }).name, 'é'.repeat(255));
  t.is(check({ size: 0 }).size, 0);
  t.is(check({ size: assetSizeMax }).size, 5_497_558_138_880);
  for (const key of ['a', 'a/b', '.a', 'a..', '...', 'a b/ü/日本', '%2e%2e', "a'(!)*?#&", ' ']) {
    t.is(check({ object_key: key }).object_key, key);
  }
});

test('A media type is written in its usual spelling', (t) => {
  const spelled = {
    'Video/MP4': 'video/mp4',
    'text/plain;CHARSET=UTF-8': 'text/plain; charset=UTF-8',
    'video/mp4 ; codecs="avc1.42E01E, mp4a.40.2"': 'video/mp4; codecs="avc1.42E01E, mp4a.40.2"',
    'application/vnd.ms-excel.sheet.macroEnabled.12': 'application/vnd.ms-excel.sheet.macroenabled.12',
    'a/b;c=d; E=f': 'a/b; c=d; e=f',
    // The longest one has 255 characters.
    [`a/b; c=${'d'.repeat(248)}`]: `a/b; c=${'d'.repeat(248)}`,
  };
  for (const [given, expected] of Object.entries(spelled)) {
    t.is(check({ media_type: given }).media_type, expected);
  }
});

test('An invalid media type is refused', (t) => {
  const refused = [
    ...['', 'video', 'video/', '/mp4', 'video/mp4/x', 'video mp4', ' video/mp4', 'video/mp4 ', 'vidéo/mp4'],
    ...[
      'video/mp4;',
      'video/mp4; codecs',
      'video/mp4; =x',
      'a/b; c="d',
      'a/b; c="d\\"e"',
      'a/b; c=d\r\nX: y',
    ],
    ...['.a/b', `${'a'.repeat(128)}/b`, `a/b; c=${'d'.repeat(249)}`, 'a/b\n', '*/*'],
  ];
  for (const media_type of refused) {
    t.throws(() => check({ media_type }), { message: /^media_type / }, media_type);
    const rendition = { kind: 'a', object_key: 'b', media_type, size: 1 };
    t.throws(() => check({ renditions: [rendition] }), { message: /^renditions\.0\.media_type / });
  }
});

test('An object key that a browser rewrites or a storage rejects is refused', (t) => {
  for (const object_key of [
    '',
    '/',
    '//',
    '.',
    '..',
    'a/./b',
    'a/..',
    'a//../b',
    '../a',
    'a\nb',
    'a\u0000',
    '\ud800',
  ]) {
    t.throws(() => check({ object_key }), { message: /^object_key / }, JSON.stringify(object_key));
    const rendition = { kind: 'a', object_key, media_type: 'a/b', size: 1 };
    t.throws(() => check({ renditions: [rendition] }), { message: /^renditions\.0\.object_key / });
  }
  const tenBytes = { ...widestKeyRule, bytesMax: 10 };
  t.is(check({ object_key: 'é'.repeat(5), renditions: [] }, tenBytes).object_key.length, 5);
  t.throws(() => check({ object_key: 'é'.repeat(5), renditions: [] }, { ...tenBytes, bytesMax: 9 }), {
    message: /^object_key must be at most 9 bytes/,
  });
});

test('A key may have empty segments, and begins with what its provider accepts', (t) => {
  const rendition = { kind: 'a', object_key: 'b', media_type: 'a/b', size: 1 };
  for (const basePath of ['', 'videos']) {
    for (const provider of ['s3', 'oss', 'cos'] as const) {
      const rule = keyRuleOf(provider, basePath);
      for (const key of ['a//b', 'a/', 'a///', 'a\\b', 'a/\\b']) {
        t.is(check({ object_key: key }, rule).object_key, key);
      }
      for (const key of ['/a', '//a', '\\a', '\\']) {
        const own = () => check({ object_key: key }, rule);
        const made = () => check({ renditions: [{ ...rendition, object_key: key }] }, rule);
        if (provider === 's3') {
          t.is(own().object_key, key);
          t.is(made().renditions[0]?.object_key, key);
        } else {
          t.throws(own, { message: /^object_key must not begin with a slash or a backslash/ });
          t.throws(made, { message: /^renditions\.0\.object_key must not begin/ });
        }
      }
    }
  }
  t.deepEqual(
    (['s3', 'oss', 'cos'] as const).map((provider) => keyRuleOf(provider, 'videos').bytesMax),
    [1_017, 1_016, 843],
  );
});

test('Names, sizes and renditions have limits', (t) => {
  for (const name of ['', ' ', 'x'.repeat(256), 'a\u0007b'])
    t.throws(() => check({ name }), { message: /^name / });
  for (const size of [-1, 0.5, Number.NaN, assetSizeMax + 1, Infinity]) {
    t.throws(() => check({ size }), { message: /^size / });
    const rendition = { kind: 'a', object_key: 'a', media_type: 'a/b', size };
    t.throws(() => check({ renditions: [rendition] }), { message: /^renditions\.0\.size / });
  }
  const rendition = (kind: string) => ({ kind, object_key: 'a', media_type: 'a/b', size: 1 });
  const many = (count: number) => Array.from({ length: count }, (_, n) => rendition(`k${n}`));
  t.is(check({ renditions: many(20) }).renditions.length, 20);
  t.throws(() => check({ renditions: many(21) }), { message: /^renditions / });
  for (const kind of ['', 'A', 'a b', 'a.b', 'x'.repeat(33), 'original']) {
    t.throws(() => check({ renditions: [rendition(kind)] }), { message: /^renditions\.0\.kind / });
  }
  t.throws(() => check({ renditions: [rendition('a'), rendition('b'), rendition('a')] }), {
    message: /^renditions\.2\.kind /,
  });
});
