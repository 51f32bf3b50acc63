/** The variables of a platform begin with its name: `PAYMENT_<PLATFORM>_…`. */
export type PaymentVariableName = `PAYMENT_${string}`;

/** Reads of the variables of one platform. What is wrong is recorded as a problem that quotes no value, and null. */
export interface SettingReads<Name extends PaymentVariableName = PaymentVariableName> {
  readonly read: (name: Name) => string | undefined;
  readonly problem: (name: Name, text: string) => null;
  /** Whether these variables are set. Where some variables of the platform are, the missing ones are a problem each. */
  readonly hasAll: (names: readonly Name[]) => boolean;
  /** Reads a list that is separated by commas, so that keys can rotate. */
  readonly list: <Item>(
    name: Name,
    parse: (text: string) => Item | null,
    expected: string,
  ) => readonly Item[] | null;
  readonly one: (name: Name, shape: RegExp, expected: string) => string | null;
  /** Reads `true` or `false`; undefined where it is not set. */
  readonly truth: (name: Name) => boolean | undefined | null;
}

export const expectedPrivateKey = 'must be an RSA private key (PEM or base64, 2048 bits or more)';

/** @param all the variables of the platform */
export function makeSettingReads<Name extends PaymentVariableName>(
  read: (name: PaymentVariableName) => string | undefined,
  problems: string[],
  all: readonly PaymentVariableName[],
): SettingReads<Name> {
  const problem = (name: Name, text: string): null => {
    problems.push(`${name} ${text}`);
    return null;
  };
  return {
    read,
    problem,
    hasAll: (names) => {
      if (all.every((name) => read(name) === undefined)) return false;
      const missing = names.filter((name) => read(name) === undefined);
      for (const name of missing) problem(name, 'must be set too, since others of this platform are');
      return missing.length === 0;
    },
    list: (name, parse, expected) => {
      // Some consoles show secrets of Standard Webhooks with the version of their signatures before them.
      const text = (read(name) ?? '').replaceAll(/(?<=^|,)\s*v1a?,(?=\s*wh(?:sec|pk)_)/g, '');
      const items = text.split(',').map((item) => item.trim());
      const parsed = items.filter((item) => item !== '').map(parse);
      const good = parsed.filter((item) => item !== null);
      if (good.length > 0 && good.length === parsed.length) return good;
      return problem(name, `must be ${expected}, or several, separated by commas`);
    },
    one: (name, shape, expected) => {
      const text = read(name)?.trim() ?? '';
      return shape.test(text) ? text : problem(name, `must be ${expected}`);
    },
    truth: (name) => {
      const text = read(name);
      if (text === undefined) return undefined;
      return text === 'true' || text === 'false' ? text === 'true' : problem(name, 'must be true or false');
    },
  };
}

export function matching(shape: RegExp): (text: string) => string | null {
  return (text) => (shape.test(text) ? text : null);
}
