import test from 'ava';
import { assetAggregate } from '../../../../src/areas/assets/domain/asset/asset.js';
import type { AssetEvent } from '../../../../src/areas/assets/domain/asset/events.js';
import { assetDescription } from '../../../support/examples/asset.js';
import { otherProjectId, projectId } from '../../../support/examples/ids.js';
import { given } from '../../../support/given/given.js';
import type { HeadedObject } from '../../../../src/areas/storages/bucket/objects/head-object.js';

const description = { ...assetDescription, size: 4, media_type: 'video/mp4' };
const added: AssetEvent = { type: 'AssetAdded', data: description };
const removed: AssetEvent = { type: 'AssetRemoved', data: { project_id: projectId, bytes: 4 } };
const [digest, otherDigest] = ['a'.repeat(64), 'b'.repeat(64)];
const now = new Date('2026-11-23T03:00:00.000Z');
const file = { size: 4, entity_tag: 'tag-1', media_type: 'video/mp4', sha256: null };
const verifiedAs = (changes: Partial<HeadedObject>): AssetEvent => ({
  type: 'AssetUploadVerified',
  data: { ...file, ...changes },
});
const verified = verifiedAs({});
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
const checks = [
  '2026-11-23T03:01:30.000Z',
  '2026-11-23T03:17:00.000Z',
  '2026-11-23T05:00:00.000Z',
  '2026-11-24T01:00:00.000Z',
];
const end = (attempt: number, answer: { readonly seen: typeof file | null } | null) =>
  ({ type: 'EndCheck', check_at: checks[attempt - 1] ?? '', answer, now }) as const;

const checkedAgain = given(assetAggregate, added, verified, first);
const complete = given(assetAggregate, added, verified);
const checked = given(assetAggregate, added, first);
const pending = given(assetAggregate, added);

test('An added asset is pending', (t) => {
  t.like(pending.state, { upload: 'pending', object: null, differs: [] });
});

test('An object as the asset describes it completes the upload', (t) => {
  pending.when(record({})).then(t, verified);
  // A type that the storage chose for an uploader without one says nothing, and parameters are no difference
  const types = ['binary/octet-stream', 'application/octet-stream', 'Video/MP4; codecs="x"', null];
  for (const media_type of types) {
    pending.when(record({ media_type })).then(t, verifiedAs({ media_type }));
  }
  pending.when(record({}, digest)).then(t, verifiedAs({ sha256: digest }));
  // The digest of an unchanged object stays known
  const known = given(assetAggregate, added, verifiedAs({ sha256: digest }));
  known.when(record({})).thenNothing(t);
  known.when(record({ entity_tag: 'tag-2' })).then(t, verifiedAs({ entity_tag: 'tag-2' }));
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
    for (const before of [pending, complete]) before.when(record(seen, sha256)).then(t, mismatched);
    const asset = given(assetAggregate, added, mismatched);
    t.like(asset.state, { upload: 'mismatched', differs });
    asset.when(record({ entity_tag: 'tag-2' })).then(t, verifiedAs({ entity_tag: 'tag-2' }));
    // A later check, which knows no digest of the client, does not end a difference in the digest
    asset.when(record(seen)).thenNothing(t);
  }
});

test('A missing object makes a complete asset pending again, and changes no pending one', (t) => {
  const missing: AssetEvent = { type: 'AssetUploadMissing', data: {} };
  pending.when(record(null)).thenNothing(t);
  complete.when(record(null)).then(t, missing);
  t.like(given(assetAggregate, added, verified, missing).state, { upload: 'pending', object: null });
});

test('An upload URL sets one check a minute and a half, and leaves the status as it is', (t) => {
  const expect = { type: 'ExpectUpload', projectId, now } as const;
  pending.when(expect).then(t, first);
  checked.when({ ...expect, now: new Date(now.getTime() + 89_999) }).thenNothing(t);
  checked
    .when({ ...expect, now: new Date(now.getTime() + 90_000) })
    .then(t, expected(1, '2026-11-23T03:03:00.000Z'));
  given(assetAggregate, added, first, expected(2, '2026-11-23T03:18:00.000Z')).when(expect).then(t, first);
  complete.when(expect).then(t, first);
  t.like(checkedAgain.state, { upload: 'complete' });
  pending.when({ ...expect, projectId: otherProjectId }).thenRejected(t, 'asset_not_found');
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
  checkedAgain.when(end(1, { seen: file })).then(t, expected(2, waits[0] ?? ''));
  checkedAgain
    .when(end(1, { seen: null }))
    .then(t, { type: 'AssetUploadMissing', data: {} }, expected(2, waits[0] ?? ''));
});

test('A changed object ends the checks, and a check that is out of date changes nothing', (t) => {
  checked.when(end(1, { seen: file })).then(t, verified);
  given(assetAggregate, added, first, verified)
    .when(end(1, { seen: { ...file, size: 9 } }))
    .thenNothing(t);
  checked.when(end(2, { seen: file })).thenNothing(t);
  given(assetAggregate, added, first, removed)
    .when(end(1, { seen: file }))
    .thenNothing(t);
});
