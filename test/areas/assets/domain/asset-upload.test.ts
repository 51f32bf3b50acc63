import test from 'ava';
import { assetAggregate } from '../../../../src/areas/assets/domain/asset/asset.js';
import type { AssetEvent } from '../../../../src/areas/assets/domain/asset/events.js';
import { assetDescription } from '../../../support/examples/asset.js';
import { otherProjectId, projectId } from '../../../support/examples/ids.js';
import { given } from '../../../support/given/given.js';

const description = { ...assetDescription, size: 4, media_type: 'video/mp4' };
const added: AssetEvent = { type: 'AssetAdded', data: description };
const removed: AssetEvent = { type: 'AssetRemoved', data: { project_id: projectId, bytes: 4 } };
const [digest, otherDigest] = ['a'.repeat(64), 'b'.repeat(64)];
const now = new Date('2026-11-23T03:00:00.000Z');
const file = { size: 4, entity_tag: 'tag-1', media_type: 'video/mp4', sha256: null };
const verified: AssetEvent = { type: 'AssetUploadVerified', data: file };
const expected = (attempt: number, check_at: string): AssetEvent => ({
  type: 'AssetUploadExpected',
  data: { attempt, check_at },
});
const first = expected(1, '2026-11-23T03:01:30.000Z');

const record = (seen: object | null, sha256: string | null = null) =>
  ({
    ...({ type: 'RecordAnswer', projectId, sha256 } as const),
    seen: seen === null ? null : { ...file, ...seen },
  }) as const;
const end = (attempt: number, answer: { readonly seen: typeof file | null } | null) =>
  ({ type: 'EndCheck', attempt, answer, now }) as const;

test('An added asset is pending', (t) => {
  const { state } = given(assetAggregate, added);
  t.like(state, { upload: 'pending', object: null, differs: [] });
});

test('An object as the asset describes it completes the upload', (t) => {
  const asset = given(assetAggregate, added);
  asset.when(record({})).then(t, verified);
  // A type that the storage chose for an uploader without one says nothing, and parameters are no difference
  for (const media_type of [
    'binary/octet-stream',
    'application/octet-stream',
    'Video/MP4; codecs="x"',
    null,
  ]) {
    asset.when(record({ media_type })).then(t, {
      type: 'AssetUploadVerified',
      data: { ...file, media_type },
    });
  }
  asset.when(record({}, digest)).then(t, { type: 'AssetUploadVerified', data: { ...file, sha256: digest } });
  // The digest of an unchanged object stays known
  const known: AssetEvent = { type: 'AssetUploadVerified', data: { ...file, sha256: digest } };
  given(assetAggregate, added, known).when(record({})).thenNothing(t);
  given(assetAggregate, added, known)
    .when(record({ entity_tag: 'tag-2' }))
    .then(t, { type: 'AssetUploadVerified', data: { ...file, entity_tag: 'tag-2' } });
});

test('Another object is mismatched, with the fields that differ', (t) => {
  for (const [seen, sha256, differs] of [
    [{ size: 5 }, null, ['size']],
    [{ media_type: 'text/html' }, null, ['media_type']],
    [{ sha256: otherDigest }, digest, ['sha256']],
    [{ sha256: otherDigest, entity_tag: null }, digest, ['sha256']],
    [{ size: 0, media_type: 'text/html', sha256: otherDigest }, digest, ['size', 'media_type', 'sha256']],
  ] as const) {
    const mismatched: AssetEvent = {
      type: 'AssetUploadMismatched',
      data: { ...file, ...seen, differs: [...differs] },
    };
    for (const before of [[added], [added, verified]]) {
      given(assetAggregate, ...before)
        .when(record(seen, sha256))
        .then(t, mismatched);
    }
    t.like(given(assetAggregate, added, mismatched).state, { upload: 'mismatched', differs });
    const again = { type: 'AssetUploadVerified', data: { ...file, entity_tag: 'tag-2' } } as const;
    given(assetAggregate, added, mismatched)
      .when(record({ entity_tag: 'tag-2' }))
      .then(t, again);
    // A later check, which knows no digest of the client, does not end a difference in the digest
    given(assetAggregate, added, mismatched).when(record(seen)).thenNothing(t);
  }
});

test('A missing object makes a complete asset pending again, and changes no pending one', (t) => {
  const missing: AssetEvent = { type: 'AssetUploadMissing', data: {} };
  given(assetAggregate, added).when(record(null)).thenNothing(t);
  given(assetAggregate, added, verified).when(record(null)).then(t, missing);
  t.like(given(assetAggregate, added, verified, missing).state, { upload: 'pending', object: null });
});

test('An upload URL sets one check a minute and a half, and leaves the status as it is', (t) => {
  const expect = { type: 'ExpectUpload', projectId, now } as const;
  given(assetAggregate, added).when(expect).then(t, first);
  given(assetAggregate, added, first)
    .when({ ...expect, now: new Date(now.getTime() + 89_999) })
    .thenNothing(t);
  given(assetAggregate, added, first)
    .when({ ...expect, now: new Date(now.getTime() + 90_000) })
    .then(t, expected(1, '2026-11-23T03:03:00.000Z'));
  given(assetAggregate, added, first, expected(2, '2026-11-23T03:18:00.000Z')).when(expect).then(t, first);
  given(assetAggregate, added, verified).when(expect).then(t, first);
  t.like(given(assetAggregate, added, verified, first).state, { upload: 'complete' });
  given(assetAggregate, added)
    .when({ ...expect, projectId: otherProjectId })
    .thenRejected(t, 'asset_not_found');
  given(assetAggregate, added, removed).when(expect).thenRejected(t, 'asset_not_found');
});

test('A check that changes nothing sets the next one, four in all', (t) => {
  const waits = ['2026-11-23T03:17:00.000Z', '2026-11-23T05:00:00.000Z', '2026-11-24T01:00:00.000Z'];
  for (const answer of [null, { seen: null }]) {
    const log = [added, first];
    for (const [index, check_at] of waits.entries()) {
      given(assetAggregate, ...log)
        .when(end(index + 1, answer))
        .then(t, expected(index + 2, check_at));
      log.push(expected(index + 2, check_at));
    }
    given(assetAggregate, ...log)
      .when(end(4, answer))
      .then(t, { type: 'AssetUploadChecksEnded', data: {} });
  }
  // The object of an earlier upload may be replaced later
  given(assetAggregate, added, verified, first)
    .when(end(1, { seen: file }))
    .then(t, expected(2, waits[0] ?? ''));
  given(assetAggregate, added, verified, first)
    .when(end(1, { seen: null }))
    .then(t, { type: 'AssetUploadMissing', data: {} }, expected(2, waits[0] ?? ''));
});

test('A changed object ends the checks, and a check that is out of date changes nothing', (t) => {
  given(assetAggregate, added, first)
    .when(end(1, { seen: file }))
    .then(t, verified);
  given(assetAggregate, added, first, verified)
    .when(end(1, { seen: { ...file, size: 9 } }))
    .thenNothing(t);
  given(assetAggregate, added, first)
    .when(end(2, { seen: file }))
    .thenNothing(t);
  given(assetAggregate, added, first, removed)
    .when(end(1, { seen: file }))
    .thenNothing(t);
});
