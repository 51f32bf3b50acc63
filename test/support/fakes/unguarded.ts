import type {
  AccountGuard,
  KnownDevices,
} from '../../../src/areas/accounts/commands/signing-in/known-devices.js';
import type { SessionReader } from '../../../projections/accounts/sessions/reader.js';
import { partial } from './partial.js';

/** Knows no device. For worlds without a state store. */
export const noKnownDevices: KnownDevices = {
  ofToken: () => Promise.resolve(null),
  ofSession: () => Promise.resolve(null),
  complete: () => Promise.resolve('a device token'),
  keep: () => Promise.resolve(),
  forget: () => Promise.resolve(),
  noteSession: () => Promise.resolve(),
  lastSessionAt: () => Promise.resolve(null),
};

/** No account has too many sessions. */
export const noOtherSessions = partial<SessionReader>({ leastUsed: () => Promise.resolve([]) });

/** Counts nothing. */
export const unguarded: AccountGuard = {
  run: (_tried, check) => check(),
  hasFailures: () => Promise.resolve(false),
};
