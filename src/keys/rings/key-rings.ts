import { createHash } from 'node:crypto';
import type { Clock } from '../../kit/time/clock.js';
import { KeyProblem } from '../sealing/errors.js';
import { type KeyFile, type RingName, keyBytes, ringNames, ringsOf } from './key-file-format.js';
import { readKeyFile, readOrMakeKeyFile } from './key-file.js';
import { type Keyring, decodeBase64url, parseKeyring } from './keyring.js';
import type { RandomBytes } from '../sealing/digests.js';
import { rereadSeconds } from './key-waiting-times.js';

/** Reads a source of keys or secrets every 30 s, until the signal aborts (src/keys/README.md#key-files). */
export async function reread(reload: () => unknown, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await clock.sleep(rereadSeconds * 1_000, signal);
    } catch {
      return;
    }
    reload();
  }
}

/** The settings of the operator, as text; absent if not set. */
export type KeySettings = Readonly<Partial<Record<RingName | 'index', string | undefined>>>;

/** The names of the settings in the environment. */
export const keySettingNames = {
  jwt: 'JWT_KEYS',
  master: 'MASTER_KEYS',
  refresh: 'REFRESH_KEYS',
  code: 'CODE_KEYS',
  pepper: 'PEPPERS',
  audit: 'AUDIT_SIGNING_KEYS',
  index: 'INDEX_KEY',
} as const satisfies Record<RingName | 'index', string>;

type KeySettingName = (typeof keySettingNames)[RingName | 'index'];

/** Collects the settings. @param read returns the current text of a setting; undefined if it is not set */
export function readKeySettings(read: (name: KeySettingName) => string | undefined): KeySettings {
  return { ...ringsOf((name) => read(keySettingNames[name])), index: read(keySettingNames.index) };
}

/** All keys of a process. */
export type KeyMaterial = Readonly<Record<RingName, Keyring>> & { readonly indexKey: Buffer };

const makeOneHint =
  "node -p \"'k1:' + require('crypto').randomBytes(32).toString('base64url')\" makes one (INDEX_KEY: without the k1:)";

/**
 * Makes the key file if it is needed and the directory holds no stores. It makes no file beside data, because sealed
 * values open only with the keys that sealed them. @throws KeyProblem
 */
export function ensureKeyFile(input: {
  readonly path: string;
  readonly settings: KeySettings;
  readonly hasData: boolean;
  readonly randomBytes: RandomBytes;
}): void {
  const { path, settings, hasData, randomBytes } = input;
  if (unsetIn(settings).length === 0) return;
  if (!hasData) readOrMakeKeyFile(path, randomBytes);
  else if (readKeyFile(path) === null) throw missingFile(path, settings);
}

/**
 * Reads all keys. A setting takes precedence over the key file.
 * @param keyFile path of `keys.json`; null if every key must be set, because several processes share the stores and
 *   `KEYS_FILE` names no file
 * @throws KeyProblem, which names every problem at once
 */
export function loadKeys(input: {
  readonly settings: KeySettings;
  readonly keyFile: string | null;
}): KeyMaterial {
  const { settings, keyFile } = input;
  const file = readNeededFile(settings, keyFile);
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

  const rings = ringsOf((name) => attempt(() => readRing(name, settings, file)));
  const indexKey = attempt(() => readIndexKey(settings, file));
  if (problems.length > 0) throw new KeyProblem(problems.join('; '));
  return { ...rings, indexKey } as KeyMaterial;
}

/**
 * Makes the function that reads all keys, now and later. A setting that is empty later is a problem: its file is being
 * written, and the key file has other keys for its ring, which would seal new values.
 */
export function makeLoadKeys(from: {
  readonly settings: () => KeySettings;
  readonly keyFile: string | null;
}) {
  const first = from.settings();
  return (): KeyMaterial => {
    const settings = from.settings();
    const emptied = unsetIn(settings).filter((name) => first[name] !== undefined);
    if (emptied.length === 0) return loadKeys({ ...from, settings });
    const names = emptied.map((name) => keySettingNames[name]).join(', ');
    throw new KeyProblem(`empty, and set at the start: ${names}; put the keys back`);
  };
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

/** Reads the key file; null if every key is set. @throws KeyProblem when the file is needed and missing */
function readNeededFile(settings: KeySettings, keyFile: string | null): KeyFile | null {
  const unset = unsetIn(settings);
  if (unset.length === 0) return null;
  if (keyFile === null) {
    const names = unset.map((name) => keySettingNames[name]).join(', ');
    throw new KeyProblem(
      `not set: ${names}; with EventStoreDB or MongoDB every key must be set, as kid:base64url of 32 random bytes: ${makeOneHint}; or stowage keys init <file> makes them all, and KEYS_FILE names the file`,
    );
  }
  const file = readKeyFile(keyFile);
  if (file === null) throw missingFile(keyFile, settings);
  return file;
}

function unsetIn(settings: KeySettings): readonly (RingName | 'index')[] {
  return [...ringNames, 'index' as const].filter((name) => settings[name] === undefined);
}

function missingFile(path: string, settings: KeySettings): KeyProblem {
  const names = unsetIn(settings).map((name) => keySettingNames[name]);
  return new KeyProblem(
    `${path} is missing, and sealed values of this directory open only with its keys; restore it from a backup, ` +
      `or set the keys that the data was made with: ${names.join(', ')}. Before the first start of a service on ` +
      'EventStoreDB or MongoDB, stowage keys init makes the file that KEYS_FILE names',
  );
}

/** All keys of a running process. The rings change with their source. */
export type KeyRings = KeyMaterial & {
  /** Reads the source again. After a problem the old keys stay. Returns the problem given to `onProblem`, or null. */
  reload(): string | null;
  /** Reads the source every 30 s, until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
};

/** Requests may contain any key id, so unknown ids cause at most one reading of the source in this time. */
const unknownKidIntervalMs = 1_000;

/**
 * Makes rings that change with their source. `find` of an unknown key id reads the source first, at most once a second,
 * so that this process at once accepts tokens of a process with a newer ring.
 * @param onProblem receives the reason for a rejected reading: a sentence without key text
 * @throws KeyProblem when the first reading fails
 */
export function makeKeyRings(deps: {
  readonly load: () => KeyMaterial;
  readonly clock: Clock;
  readonly onProblem: (problem: string) => void;
  /** Runs after each reading that was accepted. `changed` tells whether a ring has other keys, or another order. */
  readonly onReload?: (changed: boolean) => void;
}): KeyRings {
  const { load, clock, onProblem, onReload = () => undefined } = deps;
  let current = load();
  let lastUnknownKidMs = -Infinity;
  const seen = new Map<string, string>();
  remember(seen, current);

  function reload(): string | null {
    try {
      const next = load();
      if (!next.indexKey.equals(current.indexKey))
        throw new KeyProblem('INDEX_KEY has changed, and it is never rotated; put the old one back');
      remember(seen, next);
      const changed = idsOf(next) !== idsOf(current);
      current = next;
      onReload(changed);
      return null;
    } catch (error) {
      // Other errors may quote the text that they read.
      const problem =
        error instanceof KeyProblem ? error.message : 'the keys could not be read; the old ones stay';
      onProblem(problem);
      return problem;
    }
  }

  function liveRing(name: RingName): Keyring {
    return {
      active: () => current[name].active(),
      all: () => current[name].all(),
      find: (kid) => {
        const known = current[name].find(kid);
        if (known !== undefined) return known;
        const nowMs = clock.steadyMs();
        if (nowMs - lastUnknownKidMs < unknownKidIntervalMs) return undefined;
        lastUnknownKidMs = nowMs;
        reload();
        return current[name].find(kid);
      },
    };
  }

  return {
    ...ringsOf(liveRing),
    indexKey: current.indexKey,
    reload,
    watch: (signal) => reread(reload, clock, signal),
  };
}

function idsOf(keys: KeyMaterial): string {
  return JSON.stringify(ringNames.map((name) => keys[name].all().map(({ kid }) => kid)));
}

/**
 * Records the ids with digests of their keys. An id names one key for ever, because tokens and records name it by id.
 * @throws KeyProblem when an id now names another key; then it records nothing
 */
function remember(seen: Map<string, string>, keys: KeyMaterial): void {
  const entries = ringNames.flatMap((name) =>
    keys[name].all().map(({ kid, key }) => {
      const digest = createHash('sha256').update(key).digest('base64');
      const known = seen.get(`${name}/${kid}`);
      if (known === undefined || known === digest) return [`${name}/${kid}`, digest] as const;
      throw new KeyProblem(
        `${keySettingNames[name]}: the id ${kid} names another key now; new keys need new ids`,
      );
    }),
  );
  for (const [id, digest] of entries) seen.set(id, digest);
}
