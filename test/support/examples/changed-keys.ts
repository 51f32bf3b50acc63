import { keyEnvironment } from '../servers/service-process.js';

/** An environment whose keys do not match data that was made with `keyEnvironment`. */
interface ChangedKeys {
  readonly what: string;
  /** The variables that the refusal must name. */
  readonly variables: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const names = Object.keys(keyEnvironment);

function keyTextOf(name: string): string {
  return (keyEnvironment[name] ?? '').replace(/^k1:/, '');
}

/** Returns the text of a variable with this key. Every ring has one key, of the id `k1`. */
function asVariable(name: string, keyText: string): string {
  return name === 'INDEX_KEY' ? keyText : `k1:${keyText}`;
}

function wrongKey(name: string): ChangedKeys {
  const other = asVariable(name, Buffer.alloc(32, 'another').toString('base64url'));
  return { what: `another ${name}`, variables: [name], environment: { ...keyEnvironment, [name]: other } };
}

function newRing(name: string): ChangedKeys {
  const other = `k2:${Buffer.alloc(32, 'another').toString('base64url')}`;
  return {
    what: `${name} with a new key alone`,
    variables: [name],
    environment: { ...keyEnvironment, [name]: other },
  };
}

function missingKey(name: string): ChangedKeys {
  const environment = Object.fromEntries(Object.entries(keyEnvironment).filter(([key]) => key !== name));
  return { what: `no ${name}`, variables: [name], environment };
}

function swappedKeys(name: string, index: number): ChangedKeys {
  const other = names[(index + 1) % names.length] ?? '';
  const environment = {
    ...keyEnvironment,
    [name]: asVariable(name, keyTextOf(other)),
    [other]: asVariable(other, keyTextOf(name)),
  };
  return { what: `${name} and ${other} swapped`, variables: [name, other], environment };
}

/** Each of the seven variables with another key, swapped with the next one, with a new key alone, and missing. */
export const changedKeys: readonly ChangedKeys[] = [
  ...names.map(wrongKey),
  ...names.map(swappedKeys),
  ...names.filter((name) => name !== 'INDEX_KEY').map(newRing),
  ...names.map(missingKey),
];
