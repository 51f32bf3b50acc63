import type { Clock } from '../../kit/time/clock.js';
import { CommandRejected } from '../../event-sourcing/ports/errors.js';
import { KeyProblem } from '../sealing/errors.js';
import { addKey, kidsIn, newRingKey, promoteKey, retireKey, timesOf } from './key-changes.js';
import { ringNames, type KeyFile, type KeyTimes, type RingName } from './key-file-format.js';
import { changeKeyFile, readKeyFile } from './key-file.js';
import { keySettingNames, type KeyRings, type KeySettings } from './key-rings.js';
import { type PepperedPasswords, explainNeededPepper, formatRingKey } from './keyring.js';
import {
  adviceAfterAdding,
  afterRetiring,
  mayStillBeUsed,
  promoteAdvice,
  retireAdvice,
  whyNotPromote,
  whyNotRetire,
} from './key-waiting-times.js';
import type { RandomBytes } from '../sealing/digests.js';
import type { Sealer } from '../sealing/sealer.js';

/** A ring in the view of operators: ids and times, never a key. */
export type RingOverview = {
  readonly ring: RingName;
  /** `keys.json`, or the variable that sets the ring. */
  readonly source: string;
  readonly keys: readonly {
    readonly kid: string;
    readonly active: boolean;
    /** RFC 3339; null if the key file has no time. */
    readonly added_at: string | null;
    readonly promoted_at: string | null;
    readonly demoted_at: string | null;
  }[];
};

/** A change of a ring. If the environment sets the ring, the change is advice for the operator. */
export type KeyChange = {
  readonly ring: RingName;
  readonly kid: string;
  readonly changed: boolean;
  /** The next step of the operator, and its time. */
  readonly next: string;
  /** The new entry with its key. Only `keys add` returns it, and only if the environment sets the ring. */
  readonly entry?: string;
};

/** Rotates the rings (src/keys/README.md#rotation): add, promote, rewrap (master), retire. All throw CommandRejected. */
export type KeyRotation = ReturnType<typeof makeKeyRotation>;

export function makeKeyRotation(deps: {
  readonly keyRings: KeyRings;
  /** Path of `keys.json`; null if every ring is set. */
  readonly keyFile: string | null;
  readonly settings: () => KeySettings;
  readonly sealer: Pick<Sealer, 'countByMasterKey'>;
  readonly countPasswords: (pepper: string) => Promise<PepperedPasswords>;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  /** Receives every change, for the log. */
  readonly onChange: (change: 'added' | 'promoted' | 'retired', ring: RingName, kid: string) => void;
}) {
  const { keyRings, keyFile, settings, sealer, countPasswords, clock, randomBytes, onChange } = deps;
  return {
    list: (): readonly RingOverview[] => {
      const set = settings();
      const file = keyFile === null ? null : readFile(keyFile);
      return ringNames.map((ring) => {
        const inFile = set[ring] === undefined;
        const active = keyRings[ring].active().kid;
        const keys = kidsOf(ring).map((kid) => {
          const times = inFile && file !== null ? timesOf(file, ring, kid) : {};
          const { added_at = null, promoted_at = null, demoted_at = null } = times;
          return { kid, active: kid === active, added_at, promoted_at, demoted_at };
        });
        return { ring, source: inFile ? 'keys.json' : keySettingNames[ring], keys };
      });
    },
    /** Adds a key that only opens and verifies. */
    add: (ring: RingName): KeyChange => {
      const path = fileOf(ring);
      if (path === null) {
        const added = newRingKey(kidsOf(ring), randomBytes);
        return {
          ring,
          kid: added.kid,
          changed: false,
          entry: formatRingKey(added),
          next: `append the entry to ${keySettingNames[ring]} of every process, not at the front; ${adviceAfterAdding(ring)}`,
        };
      }
      let kid = '';
      change(path, (file) => {
        const added = addKey(file, ring, { randomBytes, now: clock.now() });
        kid = added.kid;
        return added.file;
      });
      onChange('added', ring, kid);
      return { ring, kid, changed: true, next: `keys promote ${ring} ${kid}; ${adviceAfterAdding(ring)}` };
    },
    /**
     * Makes a key the one that signs and seals.
     * @param kid null selects the one key that was added and has never been active
     * @param options.now promotes the key even if some process cannot have read it yet
     */
    promote: (ring: RingName, wanted: string | null, { now }: { readonly now: boolean }): KeyChange => {
      const path = fileOf(ring);
      const kid = wanted ?? onlyWaiting(ring, path);
      requireKey(ring, kid);
      if (path === null) {
        const order = [kid, ...kidsOf(ring).filter((other) => other !== kid)].join(', ');
        const next = `put the entries of ${keySettingNames[ring]} into this order in every process: ${order}; ${promoteAdvice}`;
        return { ring, kid, changed: false, next };
      }
      change(path, (file) => {
        if (kidsIn(file, ring)[0] === kid)
          throw new CommandRejected('already_active', `${kid} is the active key of the ring ${ring} already`);
        const reason = now ? null : whyNotPromote(timesOf(file, ring, kid), clock.now());
        if (reason !== null)
          throw new CommandRejected('too_early', `${reason}; --now promotes it all the same`);
        return promoteKey(file, ring, kid, clock.now());
      });
      onChange('promoted', ring, kid);
      const rewrap = ring === 'master' ? 'keys rewrap now; ' : '';
      return { ring, kid, changed: true, next: `${rewrap}keys retire later: ${retireAdvice(ring)}` };
    },
    /**
     * @param options.force removes the key even if it is still needed, except if it wraps data keys
     * @throws CommandRejected; for a pepper also the errors of the count of passwords
     */
    retire: async (
      ring: RingName,
      kid: string,
      { force }: { readonly force: boolean },
    ): Promise<KeyChange> => {
      requireKey(ring, kid);
      if (kid === keyRings[ring].active().kid) {
        throw new CommandRejected(
          'key_in_use',
          `${kid} is the active key of the ring ${ring}; promote another one first`,
        );
      }
      const path = fileOf(ring);
      // The check runs before the count, because the count cannot see values that a process may still make.
      if (path !== null) refuseWhileUsed(ring, kid, { times: timesIn(path, ring, kid), force });
      if (ring === 'master') await refuseWrappingKey(kid);
      if (ring === 'pepper' && !force) await refuseNeededPepper(kid);
      if (path === null) {
        const next = `take the entry ${kid} out of ${keySettingNames[ring]} of every process; ${retireAdvice(ring)}`;
        return { ring, kid, changed: false, next };
      }
      change(path, (file) => {
        const times = timesOf(file, ring, kid);
        // The check runs again: during the count, another command may have made the key active for a moment.
        refuseWhileUsed(ring, kid, { times, force });
        const others = kidsIn(file, ring).filter((other) => other !== kid);
        const stay = others.map((other) => timesOf(file, ring, other));
        const reason = force ? null : whyNotRetire(ring, times, stay, clock.now());
        if (reason !== null)
          throw new CommandRejected('still_needed', `${kid} is still needed: ${reason}; --force retires it`);
        return retireKey(file, ring, kid);
      });
      onChange('retired', ring, kid);
      return { ring, kid, changed: true, next: afterRetiring(ring) };
    },
  };

  /** Returns the file that holds the ring; null if the environment sets it. */
  function fileOf(ring: RingName): string | null {
    return settings()[ring] === undefined ? keyFile : null;
  }

  function kidsOf(ring: RingName): readonly string[] {
    return keyRings[ring].all().map(({ kid }) => kid);
  }

  function requireKey(ring: RingName, kid: string): void {
    // `find` reads the source again if the key is unknown.
    if (keyRings[ring].find(kid) !== undefined) return;
    const known = kidsOf(ring).join(', ');
    throw new CommandRejected('no_such_key', `the ring ${ring} has no key ${kid}; it has ${known}`);
  }

  function onlyWaiting(ring: RingName, path: string | null): string {
    const file = path === null ? null : readFile(path);
    const waiting = kidsOf(ring).filter((kid) => {
      const times = file === null ? {} : timesOf(file, ring, kid);
      return (
        times.added_at !== undefined && times.promoted_at === undefined && times.demoted_at === undefined
      );
    });
    const [only] = waiting;
    if (only !== undefined && waiting.length === 1) return only;
    const known = kidsOf(ring).join(', ');
    throw new CommandRejected(
      'no_such_key',
      `say which key: the ring ${ring} has ${known}, and not exactly one of them was added by keys add and never active`,
    );
  }

  async function refuseWrappingKey(kid: string): Promise<void> {
    const wrapped = (await sealer.countByMasterKey()).get(kid) ?? 0;
    if (wrapped === 0) return;
    throw new CommandRejected(
      'key_in_use',
      `${wrapped} data keys are still wrapped with ${kid}, and would be lost with it; promote another key, then keys rewrap`,
    );
  }

  async function refuseNeededPepper(kid: string): Promise<void> {
    const needed = explainNeededPepper(kid, await countPasswords(kid));
    if (needed !== null) throw new CommandRejected('still_needed', needed);
  }

  /** Refuses within a minute after the key was demoted, because the count may then be incomplete. */
  function refuseWhileUsed(
    ring: RingName,
    kid: string,
    { times, force }: { readonly times: KeyTimes; readonly force: boolean },
  ): void {
    const isCounted = ring === 'master' || (ring === 'pepper' && !force);
    if (!isCounted || !mayStillBeUsed(times, clock.now())) return;
    throw new CommandRejected('key_in_use', `${kid} was the active key less than a minute ago; wait`);
  }

  /** Changes the file and reads it at once. */
  function change(path: string, make: (file: KeyFile) => KeyFile): void {
    explained(() => changeKeyFile(path, make));
    const problem = keyRings.reload();
    if (problem === null) return;
    throw new CommandRejected(
      'key_problem',
      `the key file was changed, and could not be read again: ${problem}`,
    );
  }

  function timesIn(path: string, ring: RingName, kid: string): KeyTimes {
    const file = readFile(path);
    return file === null ? {} : timesOf(file, ring, kid);
  }

  function readFile(path: string): KeyFile | null {
    return explained(() => readKeyFile(path));
  }
}

function explained<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof KeyProblem) throw new CommandRejected('key_problem', error.message);
    throw error;
  }
}
