import { isRecent } from '../../../kit/time/clock.js';
import { hash } from 'node:crypto';
import { z } from 'zod';
import { Overloaded } from '../../../kit/semaphore.js';
import { assetAggregate } from '../domain/asset/asset.js';
import { deletionClaim, holdOn, rejectHeld } from '../domain/asset/held-object.js';
import type { AssetRejection } from '../domain/asset/rejections.js';
import { entityId, instant } from '../../../validation/fields.js';
import {
  CommandRejected,
  OutcomeUnknown,
  PreconditionFailed,
  StoreUnavailable,
} from '../../../event-sourcing/ports/errors.js';
import { changeRecord } from '../../../event-sourcing/ports/change-record.js';
import type { AssetDeps } from '../deps.js';
import { whenRejected } from '../../shared/rejections.js';

/** An object as a storage names it. */
export type ObjectPlace = { readonly storageId: string; readonly key: string };
/** The asset that gets an object, or whose object is deleted, and the command. */
type Claimant = { readonly assetId: string; readonly commandId: string };
type Work<Result> = (giveBack: () => Promise<unknown>) => Promise<Result>;
type ClaimedObjects = Claimant & { readonly storageId: string; readonly keys: readonly string[] };

/** At this age a claim has no running command: 32 s for a load and an append (src/event-sourcing/deciding/README.md#command-queue-and-retries), 28 s for clock skew. */
const claimMs = 60_000;
/** The lifetime of a record: longer than any view lags. Without a record, the view names the assets that have the object. */
const recordMs = 86_400_000;
const recordSchema = z.strictObject({ asset_id: entityId, command_id: z.string(), at: instant });
type ClaimRecord = z.output<typeof recordSchema>;

/** Gives each object of a storage to one asset, also when processes race: src/areas/assets/README.md#object-keys. */
export type ObjectKeys = ReturnType<typeof makeObjectKeys>;

export function makeObjectKeys({ stateStore, handler, assets, clock }: AssetDeps) {
  return {
    /** Claims the objects and appends. @throws CommandRejected object_key_taken; Overloaded; the errors of `append` */
    claiming<Result extends { readonly events: readonly unknown[] }>(
      { storageId, keys, ...by }: ClaimedObjects,
      append: () => Promise<Result>,
    ) {
      const places = [...new Set(keys)].map((key) => ({ storageId, key }));
      return withClaims(places, by, async (giveBack) => {
        const handled = await append();
        // The asset does not show that a command without events has ended.
        if (handled.events.length === 0) await giveBack();
        return handled;
      });
    },
    /** Claims an object under all its names, and deletes it. `kept`: an asset has it, or is getting it. */
    deleting<Result extends { readonly isAnswered: boolean }>(
      { assetId, places }: { readonly assetId: string; readonly places: readonly ObjectPlace[] },
      deleteObject: () => Promise<Result>,
    ): Promise<Result | 'kept'> {
      return withClaims(places, { assetId, commandId: deletionClaim }, async (giveBack) => {
        const deleted = await deleteObject();
        // Without an answer, the bucket may delete the object later. The claims then count for their minute.
        if (deleted.isAnswered) await giveBack();
        return deleted;
      }).catch(whenRejected<AssetRejection>('object_key_taken')(() => 'kept' as const));
    },
  };

  async function withClaims<Result>(places: readonly ObjectPlace[], by: Claimant, work: Work<Result>) {
    const claims: (() => Promise<unknown>)[] = [];
    const giveBack = () => Promise.allSettled(claims.map((give) => give()));
    try {
      for (const place of places) claims.push(await claim(place, by));
      return await work(giveBack);
    } catch (error) {
      if (wroteNothing(error)) await giveBack();
      throw error;
    }
  }

  function wroteNothing(error: unknown): boolean {
    if (error instanceof OutcomeUnknown) return false;
    return [CommandRejected, PreconditionFailed, StoreUnavailable, Overloaded].some(
      (kind) => error instanceof kind,
    );
  }

  /** @returns what gives the claim back: the record is then as it was before */
  async function claim(place: ObjectPlace, { assetId: asset_id, commandId: command_id }: Claimant) {
    const key = `object-keys/${place.storageId}/${hash('sha256', place.key, 'base64url')}`;
    const write = { asset_id, command_id, at: clock.now().toISOString() };
    const lifetime = { expiresAt: new Date(clock.now().getTime() + recordMs) };
    const change = async (found: { readonly value: ClaimRecord } | null) => {
      const record = found?.value ?? null;
      const shown = record === null ? await assets.withObject(place.storageId, place.key) : [record.asset_id];
      // A key that the service made has no record, and begins with the id of its asset.
      const holders = new Set([...shown, entityId.safeParse(place.key.slice(0, 36)).data ?? asset_id]);
      holders.delete(asset_id);
      for (const holder of holders) await refuseIfHeld(place, holder, record, command_id);
      return { write, ...lifetime, result: record };
    };
    const options = { tries: 10, unknownOutcome: 'retry' } as const;
    const claimed = await changeRecord(stateStore, { key, schema: recordSchema }, change, options);
    if (claimed === null || 'kept' in claimed) throw new Overloaded('an object key changed hands too often');
    return () => stateStore.compareAndSet(key, claimed.version, claimed.result, lifetime);
  }

  async function refuseIfHeld(
    place: ObjectPlace,
    holder: string,
    record: ClaimRecord | null,
    commandId: string,
  ) {
    const { state } = await handler.load(assetAggregate, holder);
    const isYoung = record !== null && isRecent(Date.parse(record.at), claimMs, clock.now());
    const isClaimed = isYoung && record.asset_id === holder;
    const held = holdOn(state, place, isClaimed ? record.command_id : null);
    if (held === null || (held === 'deletes' && commandId === deletionClaim)) return;
    rejectHeld(holder, held);
  }
}
