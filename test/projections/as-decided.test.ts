import test from 'ava';
import { sharesProjection } from '../../projections/shares/projection.js';
import { storageConfigsProjection } from '../../projections/storage-configs/projection.js';
import { remainingUses, shareAggregate, type ShareCommand } from '../../src/domain/share/share.js';
import { storageAggregate, type StorageCommand } from '../../src/domain/storage/storage.js';
import type { Aggregate } from '../../src/event-sourcing/decider.js';
import type { DomainEvent } from '../../src/event-sourcing/domain-event.js';
import { CommandRejected } from '../../src/event-sourcing/errors.js';
import { foldEvents } from '../../src/event-sourcing/fold-documents.js';
import type { AnyProjection } from '../../src/event-sourcing/projection.js';
import { makeSeededRandom } from '../support/clock.js';
import { projectId } from '../support/examples/ids.js';
import { sealedExample } from '../support/examples/sealed.js';
import { createShare } from '../support/examples/share.js';
import { configuration, credentials } from '../support/examples/storage.js';
import { recordEvents } from '../support/given-events.js';

// What an aggregate decides by and what its view shows are folded apart; they have to say the same.

type Draw = <Item>(...items: readonly [Item, ...Item[]]) => Item;

/** Lets an aggregate decide commands that are drawn. After each: what it holds, and what the view shows. */
function* histories<State, Command, Event extends DomainEvent>(
  aggregate: Aggregate<State, Command, Event>,
  projection: AnyProjection,
  commandAt: (draw: Draw, count: number) => Command,
) {
  const random = makeSeededRandom(7);
  const draw: Draw = (...items) => items[Math.floor(random() * items.length)] ?? items[0];
  const { codec, decider } = aggregate;
  for (let history = 0; history < 60; history += 1) {
    const events: Event[] = [];
    let state = decider.initialState;
    for (let count = 0; count < 16; count += 1) {
      const command = commandAt(draw, count);
      try {
        events.push(...decider.decide(command, state));
      } catch (error) {
        if (!(error instanceof CommandRejected)) throw error;
        continue;
      }
      const stored = recordEvents(aggregate, 'example', events);
      state = stored.reduce(
        (before, event) => decider.evolve(before, codec.decode(event)),
        decider.initialState,
      );
      const folded = foldEvents(projection, null, stored);
      const place = `history ${history}: ${events.map(({ type }) => type).join(', ')}`;
      yield { state, document: folded === null || folded === 'gap' ? null : folded.body, place };
    }
  }
}

const idOf = (count: number): string => `019b7d00-0000-7000-8000-${String(count).padStart(12, '0')}`;

test('a storage is shown as it is decided, whatever has been done to it', (t) => {
  let latest = idOf(0);
  const seen = new Map<string, number>();
  const all = histories(storageAggregate, storageConfigsProjection, (draw, count): StorageCommand => {
    if (count === 0) {
      const first = { version: 1, sealed: credentials };
      return { type: 'Create', projectId, configuration, credentials: first };
    }
    const change = draw(
      { bucket: `bucket-${count}` },
      { base_path: `${count}` },
      { name: 'a', region: 'b' },
      { cdn_domain: '' },
    );
    const command = draw<StorageCommand>(
      { type: 'StartTest', testId: idOf(count) },
      { type: 'FinishTest', testId: latest, failure: null },
      { type: 'FinishTest', testId: latest, failure: null },
      { type: 'FinishTest', testId: latest, failure: { code: 'throttled', hint: null } },
      { type: 'Change', change: (present) => ({ ...present, ...change }), testId: idOf(count) },
      {
        type: 'ReplaceCredentials',
        credentials: { version: count + 1, sealed: credentials },
        testId: idOf(count),
      },
      { type: 'ChangeDelivery', mode: draw('origin', 'rewrite', 'public') },
      draw<StorageCommand>({ type: 'Disable' }, { type: 'Enable' }, { type: 'Delete' }),
    );
    if ('testId' in command) latest = command.testId;
    return command;
  });
  for (const { state, document, place } of all) {
    seen.set(state.status, (seen.get(state.status) ?? 0) + 1);
    if (state.status === 'absent' || state.status === 'deleted') {
      t.is(document, null, place);
      continue;
    }
    const { name, provider, endpoint, bucket, region, base_path, cdn_domain } = state.configuration;
    const shown = { name, provider, endpoint, bucket, region, base_path, cdn_domain };
    const test_ = state.test && { id: state.test.testId, of_candidate: state.test.candidate !== null };
    t.like(document, { ...shown, status: state.status, delivery: state.delivery, test: test_ }, place);
  }
  t.is(seen.size, 6, JSON.stringify([...seen]));
});

test('a share is shown as it is decided, whatever has been done to it', (t) => {
  const now = new Date('2026-02-01T00:00:00.000Z');
  const seen = new Set<string>();
  const all = histories(shareAggregate, sharesProjection, (draw, count): ShareCommand => {
    if (count === 0) return createShare;
    const use = { type: 'Use', accessId: idOf(draw(count, count - 1)), now } as const;
    return draw<ShareCommand>(
      { ...use, passwordGeneration: draw(1, 1, 2) },
      { ...use, passwordGeneration: draw(1, 1, 2) },
      { type: 'Change', changes: { maxUses: draw(null, 1, 5) } },
      { type: 'Change', changes: {}, passwordHash: sealedExample(`hash ${count}`) },
      { type: 'Change', changes: { allowDownload: draw(true, false), expiresAt: draw(null, now) } },
      { type: 'TellThrottled', failures: 30, now },
      draw<ShareCommand>({ type: 'Revoke' }, { ...use, passwordGeneration: 1 }),
    );
  });
  for (const { state, document, place } of all) {
    if (state.status !== 'open') {
      t.is(document, null, place);
      continue;
    }
    const { maxUses, allowDownload, expiresAt, passwordGeneration, throttledAt, usedBy } = state;
    const shown = { max_uses: maxUses, allow_download: allowDownload, uses: usedBy.size };
    const end = expiresAt?.toISOString() ?? null;
    t.like(document, { ...shown, expires_at: end, password_generation: passwordGeneration }, place);
    t.is(document?.['throttled_at'] === null, throttledAt === null, place);
    seen.add(`${remainingUses(state)}`);
  }
  t.true(seen.has('0') && seen.has('null') && seen.has('1'));
});
