import type { Clock } from '../event-sourcing/clock.js';
import { KeyProblem } from './errors.js';
import { keyBytes, readOrMakeKeyFile, ringNames } from './key-file.js';
import type { KeyFile, RingName } from './key-file.js';
import { decodeBase64url, parseKeyring } from './keyring.js';
import type { Keyring } from './keyring.js';
import type { RandomBytes } from './random-bytes.js';

/** What the operator set, as text; what is absent was not set. */
export type KeySettings = Readonly<Partial<Record<RingName | 'index', string>>>;

/** The names under which the settings stand in the environment. */
export const keySettingNames = {
  jwt: 'JWT_KEYS',
  master: 'MASTER_KEYS',
  refresh: 'REFRESH_KEYS',
  code: 'CODE_KEYS',
  pepper: 'PEPPERS',
  audit: 'AUDIT_SIGNING_KEYS',
  index: 'INDEX_KEY',
} as const satisfies Record<RingName | 'index', string>;

/** All keys of a process. */
export type KeyMaterial = Readonly<Record<RingName, Keyring>> & { readonly indexKey: Buffer };

const makeOneHint =
  "node -p \"'k1:' + require('crypto').randomBytes(32).toString('base64url')\" makes one (INDEX_KEY: without the k1:)";

/**
 * Reads all keys: what is set explicitly counts, the rest comes from the key file.
 * @param keyFile path of `keys.json`, which is made where it is missing; null where keys must be set explicitly,
 * because several processes share the stores
 * @throws KeyProblem naming every problem at once
 */
export function loadKeys({
  settings,
  keyFile,
  randomBytes,
}: {
  readonly settings: KeySettings;
  readonly keyFile: string | null;
  readonly randomBytes: RandomBytes;
}): KeyMaterial {
  const unset = [...ringNames, 'index' as const].filter((name) => settings[name] === undefined);
  if (unset.length > 0 && keyFile === null) {
    const names = unset.map((name) => keySettingNames[name]).join(', ');
    throw new KeyProblem(
      `not set: ${names}; with EventStoreDB or MongoDB every key must be set, as kid:base64url of 32 random bytes: ${makeOneHint}`,
    );
  }
  const file = unset.length > 0 && keyFile !== null ? readOrMakeKeyFile(keyFile, randomBytes) : null;
  const problems: string[] = [];

  function attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof KeyProblem)) throw error;
      problems.push(error.message);
      return undefined;
    }
  }

  const ring = (name: RingName) => attempt(() => readRing(name, settings, file));
  const [jwt, master, refresh] = [ring('jwt'), ring('master'), ring('refresh')];
  const [code, pepper, audit] = [ring('code'), ring('pepper'), ring('audit')];
  const indexKey = attempt(() => readIndexKey(settings, file));
  if (!jwt || !master || !refresh || !code || !pepper || !audit || !indexKey) {
    throw new KeyProblem(problems.join('; '));
  }
  return { jwt, master, refresh, code, pepper, audit, indexKey };
}

function readRing(name: RingName, settings: KeySettings, file: KeyFile | null): Keyring {
  const set = settings[name];
  if (set !== undefined) return parseKeyring(set, { name: keySettingNames[name], bytes: keyBytes });
  const text = file?.rings[name].join(',') ?? '';
  return parseKeyring(text, { name: `the ring ${name} of keys.json`, bytes: keyBytes });
}

function readIndexKey(settings: KeySettings, file: KeyFile | null): Buffer {
  const key = decodeBase64url((settings.index ?? file?.index_key ?? '').trim());
  if (key?.length === keyBytes) return key;
  const name = settings.index === undefined ? 'index_key of keys.json' : keySettingNames.index;
  throw new KeyProblem(`${name} must be ${keyBytes} bytes as base64url without padding`);
}

/** All keys, live: rings that follow their source while the process runs. */
export type KeyRings = KeyMaterial & {
  /** Reads the source anew (SIGHUP). On a problem the old keys stay and `onProblem` hears of it. */
  reload(): void;
  /** Reads the source every 30 s, until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
};

/** Milliseconds. */
const reloadIntervalMs = 30_000;
/** Unknown key ids come from anybody: they cause no more than one reading in this time. */
const unknownKidIntervalMs = 1_000;

/**
 * Makes live rings. `find` of an unknown key id reads the source first, at most once a second, so that what a process
 * with a newer ring made is understood at once.
 * @param load reads the source; see `loadKeys`
 * @param onProblem told why a reading was not taken over; a sentence without key text
 * @throws KeyProblem when the first reading fails
 */
export function makeKeyRings({
  load,
  clock,
  onProblem,
}: {
  readonly load: () => KeyMaterial;
  readonly clock: Clock;
  readonly onProblem: (problem: string) => void;
}): KeyRings {
  let current = load();
  let lastUnknownKidMs = -Infinity;

  function reload(): void {
    try {
      const next = load();
      refuseChangedKeys(current, next);
      current = next;
    } catch (error) {
      // Other errors may quote what they read.
      onProblem(
        error instanceof KeyProblem ? error.message : 'the keys could not be read; the old ones stay',
      );
    }
  }

  function liveRing(name: RingName): Keyring {
    return {
      active: () => current[name].active(),
      all: () => current[name].all(),
      find: (kid) => {
        const known = current[name].find(kid);
        if (known !== undefined) return known;
        const nowMs = clock.now().getTime();
        if (Math.abs(nowMs - lastUnknownKidMs) < unknownKidIntervalMs) return undefined;
        lastUnknownKidMs = nowMs;
        reload();
        return current[name].find(kid);
      },
    };
  }

  return {
    jwt: liveRing('jwt'),
    master: liveRing('master'),
    refresh: liveRing('refresh'),
    code: liveRing('code'),
    pepper: liveRing('pepper'),
    audit: liveRing('audit'),
    indexKey: current.indexKey,
    reload,
    watch: async (signal) => {
      while (!signal.aborted) {
        try {
          await clock.sleep(reloadIntervalMs, signal);
        } catch {
          return;
        }
        reload();
      }
    },
  };
}

/** An id names one key for ever, and the index key never changes: what was made with them would be lost. */
function refuseChangedKeys(current: KeyMaterial, next: KeyMaterial): void {
  if (!next.indexKey.equals(current.indexKey)) {
    throw new KeyProblem('INDEX_KEY has changed, and it is never rotated; put the old one back');
  }
  for (const name of ringNames) {
    for (const { kid, key } of current[name].all()) {
      const now = next[name].find(kid);
      if (now !== undefined && !now.equals(key)) {
        throw new KeyProblem(
          `${keySettingNames[name]}: the id ${kid} names another key now; new keys need new ids`,
        );
      }
    }
  }
}
