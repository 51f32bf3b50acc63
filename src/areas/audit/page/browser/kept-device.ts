import type { BrowserStorage } from './kept.js';
import { fieldsOf } from './replies.js';

/** The token of this device, which the service knows after a complete sign-in. It signs in to nothing by itself. */
export interface KeptDevice {
  /** Returns the field for the body of a sign-in; none before the first. */
  readonly field: () => { readonly device_token?: string };
  /** Keeps the token of a sign-in, if its reply has one. */
  readonly keep: (data: Readonly<Record<string, unknown>>) => void;
}

const item = 'stowage-device';

/** @param storage a browser may block it. Then the device stays unknown, and signs in like a new one. */
export function makeKeptDevice(storage: () => BrowserStorage): KeptDevice {
  const orNull = <Result>(use: (opened: BrowserStorage) => Result): Result | null => {
    try {
      return use(storage());
    } catch {
      return null;
    }
  };
  return {
    field: () => {
      const token = orNull((opened) => opened.getItem(item));
      return token === null ? {} : { device_token: token };
    },
    keep: (data) => {
      const { device_token: token } = fieldsOf(data);
      if (typeof token !== 'string') return;
      orNull((opened) => {
        opened.setItem(item, token);
      });
    },
  };
}
