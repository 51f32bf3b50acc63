import type { BrowserStorage } from './kept.js';
import { fieldsOf } from './replies.js';

/** The token of this device, which the service knows after a complete sign-in. It signs in to nothing by itself. */
export type KeptDevice = ReturnType<typeof makeKeptDevice>;

const item = 'stowage-device';

/** @param storage a browser may block it. Then the device stays unknown, and signs in like a new one. */
export function makeKeptDevice(storage: () => BrowserStorage) {
  const orNull = <Result>(use: (opened: BrowserStorage) => Result): Result | null => {
    try {
      return use(storage());
    } catch {
      return null;
    }
  };
  return {
    /** Returns the field for the body of a sign-in; none before the first. */
    field: () => {
      const token = orNull((opened) => opened.getItem(item));
      return token === null ? {} : { device_token: token };
    },
    /** Keeps the token of a sign-in, if its reply has one. */
    keep: (data: Readonly<Record<string, unknown>>) => {
      const { device_token: token } = fieldsOf(data);
      if (typeof token !== 'string') return;
      orNull((opened) => opened.setItem(item, token));
    },
  };
}
