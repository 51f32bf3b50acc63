import { z } from 'zod';
import type { Clock } from '../../kit/time/clock.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { changeRecord } from '../../event-sourcing/ports/change-record.js';

/** An account at a session epoch. What raises the epoch, a new password for example, ends the devices of before. */
export interface DevicesOf {
  readonly userId: string;
  readonly epoch: number;
}

/** Remembers by their ids the devices from which an account was signed in to, for 90 days (src/security/README.md#known-devices). */
export interface Devices {
  /** @throws StoreUnavailable */
  isKnown(of: DevicesOf, id: string): Promise<boolean>;
  /**
   * Call it after a complete sign-in. It writes at most once a day, and reports that the store is away.
   * @param cameBack whether the device was known before
   */
  remember(of: DevicesOf, id: string, cameBack: boolean): Promise<void>;
  /** Takes a known device over to the next epoch, when an event of it ends the others. It reports that the store is away. */
  keep(of: DevicesOf, id: string): Promise<void>;
  /** Forgets all devices. @throws StoreUnavailable */
  forget(userId: string): Promise<void>;
}

/** A further one takes the place of one that never came back, or else of the one that was unused for the longest time. */
export const devicesMax = 16;
export const deviceMs = 90 * 86_400_000;

/** A device that was remembered within this time is not written again. */
const renewAfterMs = 86_400_000;
const tries = 20;

/** The storage format. `at`: the last complete sign-in, in epoch milliseconds. */
const device = z.strictObject({ id: z.string(), epoch: z.int(), at: z.int(), came_back: z.boolean() });
const recordSchema = z.strictObject({ devices: z.array(device) });
type Device = z.output<typeof device>;

export function makeDevices({
  stateStore,
  clock,
  onFailure,
}: {
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly clock: Clock;
  readonly onFailure: (what: string, error: unknown) => void;
}): Devices {
  const keyOf = (userId: string) => `devices/${userId}`;

  function living(record: z.output<typeof recordSchema> | undefined, epoch: number): readonly Device[] {
    const nowMs = clock.now().getTime();
    return (record?.devices ?? []).filter((one) => one.epoch >= epoch && nowMs - one.at < deviceMs);
  }

  /** @param decide returns null to keep the record */
  async function change(
    { userId, epoch }: DevicesOf,
    decide: (devices: readonly Device[], nowMs: number) => readonly Device[] | null,
  ): Promise<void> {
    // When other sign-ins were faster 20 times, the next one remembers the device.
    await changeRecord(
      stateStore,
      { key: keyOf(userId), schema: recordSchema },
      (found) => {
        const next = decide(living(found?.value, epoch), clock.now().getTime());
        if (next === null) return { keep: null };
        if (next.length === 0) return found === null ? { keep: null } : { write: null, result: null };
        const expiresAt = new Date(Math.max(...next.map(({ at }) => at)) + deviceMs);
        return { write: { devices: [...next] }, expiresAt, result: null };
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
    isKnown: async ({ userId, epoch }, id) => {
      const record = await stateStore.get(keyOf(userId));
      return record !== null && living(recordSchema.parse(record.value), epoch).some((one) => one.id === id);
    },
    remember: (of, id, cameBack) =>
      reported(
        change(of, (devices, nowMs) => {
          const before = devices.find((one) => one.id === id);
          const next = { id, epoch: of.epoch, at: nowMs, came_back: cameBack || before?.came_back === true };
          const isSame = before?.epoch === next.epoch && before.came_back === next.came_back;
          if (isSame && nowMs - before.at < renewAfterMs) return null;
          const others = devices.filter((one) => one !== before).toSorted(lastToGo);
          return [next, ...others.slice(0, devicesMax - 1)];
        }),
      ),
    keep: ({ userId, epoch }, id) =>
      reported(
        change({ userId, epoch: epoch - 1 }, (devices) =>
          devices.filter((one) => one.id === id || one.epoch >= epoch).map((one) => ({ ...one, epoch })),
        ),
      ),
    forget: (userId) => change({ userId, epoch: 0 }, () => []),
  };
}

function lastToGo(one: Device, other: Device): number {
  return Number(other.came_back) - Number(one.came_back) || other.at - one.at;
}
