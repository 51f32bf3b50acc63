import { z } from 'zod';
import { type Clock, isRecent } from '../../kit/time/clock.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { changeRecord } from '../../event-sourcing/ports/change-record.js';

/** An account at a session epoch. What raises the epoch, a new password for example, ends the devices of before. */
export type DevicesOf = { readonly userId: string; readonly epoch: number };

/** A further one takes the place of one that never came back, or else of the one that was unused for the longest time. */
const devicesMax = 16;
const deviceMs = 90 * 86_400_000;

/** A device that was remembered within this time is not written again. */
const renewAfterMs = 86_400_000;
const noteAfterMs = 3_600_000;
/** Longer than `UNPROVED_ACCOUNT_DAYS` can be. */
const sessionNoteMs = 10_000 * 86_400_000;
const tries = 20;

/** The storage format. `at`: the last complete sign-in, in epoch milliseconds. */
const device = z.strictObject({ id: z.string(), epoch: z.int(), at: z.int(), came_back: z.boolean() });
/** `session_at`: when a session last began or was refreshed, in epoch milliseconds. */
const recordSchema = z.strictObject({ devices: z.array(device), session_at: z.int().nullable() });
type DeviceRecord = z.output<typeof recordSchema>;
type Device = z.output<typeof device>;

export type Devices = ReturnType<typeof makeDevices>;

/** Makes what remembers by their ids the devices from which an account was signed in to, for 90 days (src/security/README.md#known-devices). */
export function makeDevices(deps: {
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly clock: Clock;
  readonly onFailure: (what: string, error: unknown) => void;
}) {
  const { stateStore, clock, onFailure } = deps;
  const keyOf = (userId: string) => `devices/${userId}`;

  function living(record: DeviceRecord | undefined, epoch: number): readonly Device[] {
    const nowMs = clock.now().getTime();
    return (record?.devices ?? []).filter((one) => one.epoch >= epoch && nowMs - one.at < deviceMs);
  }

  /** @param decide returns null to keep the record */
  async function change(
    { userId, epoch }: DevicesOf,
    decide: (devices: readonly Device[], nowMs: number, sessionAt: number | null) => readonly Device[] | null,
    noted: 'keep' | 'now' | 'forget' = 'keep',
  ): Promise<void> {
    // When other sign-ins were faster 20 times, the next one remembers the device.
    await changeRecord(
      stateStore,
      { key: keyOf(userId), schema: recordSchema },
      (found) => {
        const nowMs = clock.now().getTime();
        const before = found?.value.session_at ?? null;
        const next = decide(living(found?.value, epoch), nowMs, before);
        if (next === null) return { keep: null };
        const session_at = { keep: before, now: nowMs, forget: null }[noted];
        if (next.length === 0 && session_at === null)
          return found === null ? { keep: null } : { write: null, result: null };
        const ends = next.map(({ at }) => at + deviceMs);
        const expiresAt = new Date(Math.max(...ends, session_at === null ? 0 : session_at + sessionNoteMs));
        return { write: { devices: [...next], session_at }, expiresAt, result: null };
      },
      { tries, unknownOutcome: 'retry' },
    );
  }

  /** The sign-in has succeeded, so it does not fail without its record. The next one writes it. */
  const reported = (changed: Promise<void>): Promise<void> =>
    changed.catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
      onFailure('the device of a sign-in was not remembered', error);
    });
  return {
    /** @throws StoreUnavailable */
    isKnown: async ({ userId, epoch }: DevicesOf, id: string): Promise<boolean> => {
      const record = await stateStore.get(keyOf(userId));
      return record !== null && living(recordSchema.parse(record.value), epoch).some((one) => one.id === id);
    },
    /**
     * Call it after a complete sign-in. It writes at most once a day, and reports that the store is away.
     * @param cameBack whether the device was known before
     */
    remember: (of: DevicesOf, id: string, cameBack: boolean): Promise<void> =>
      reported(
        change(of, (devices, nowMs) => {
          const before = devices.find((one) => one.id === id);
          const next = { id, epoch: of.epoch, at: nowMs, came_back: cameBack || before?.came_back === true };
          const isSame = before?.epoch === next.epoch && before.came_back === next.came_back;
          if (isSame && isRecent(before.at, renewAfterMs, nowMs)) return null;
          const others = devices.filter((one) => one !== before).toSorted(lastToGo);
          return [next, ...others.slice(0, devicesMax - 1)];
        }),
      ),
    /**
     * Takes a known device over to a later epoch, when an event of it ends the others. It reports that the store is away.
     * @param before the epoch before the event
     */
    keep: ({ userId, epoch }: DevicesOf, before: number, id: string): Promise<void> =>
      reported(
        change({ userId, epoch: before }, (devices) =>
          devices
            .filter((one) => one.id === id || one.epoch >= epoch)
            .map((one) => ({ ...one, epoch: Math.max(one.epoch, epoch) })),
        ),
      ),
    /**
     * Notes that a session of the account began or was refreshed. It writes at most once an hour, and reports that the store is away.
     * Only accounts without a proved address need it.
     */
    noteSession: (userId: string): Promise<void> =>
      reported(
        change(
          { userId, epoch: 0 },
          (devices, nowMs, at) => (at !== null && isRecent(at, noteAfterMs, nowMs) ? null : devices),
          'now',
        ),
      ),
    /** Returns the last such time; null where it is unknown. @throws StoreUnavailable */
    lastSessionAt: async (userId: string): Promise<Date | null> => {
      const record = await stateStore.get(keyOf(userId));
      const at = record === null ? null : recordSchema.parse(record.value).session_at;
      return at === null ? null : new Date(at);
    },
    /** Forgets all devices and that time. @throws StoreUnavailable */
    forget: (userId: string): Promise<void> => change({ userId, epoch: 0 }, () => [], 'forget'),
  };
}

function lastToGo(one: Device, other: Device): number {
  return Number(other.came_back) - Number(one.came_back) || other.at - one.at;
}
