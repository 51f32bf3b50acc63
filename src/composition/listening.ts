import { ConfigProblem } from '../config/config.js';

/** Writes a sentence for the person who started the service. The log is for machines. */
export type Tell = (sentence: string) => void;

/** Makes the function that writes to standard error. A terminal that is gone loses the sentences. */
export function openTerminal(): Tell {
  // Without a listener the error of a closed pipe would end the process.
  process.stderr.on('error', () => undefined);
  return (sentence) => {
    process.stderr.write(`${sentence}\n`);
  };
}

/** The defect of an address by error code, and the remedy. */
const advice = new Map([
  ['EADDRINUSE', 'is in use by another program; stop that one, or choose another'],
  ['EACCES', 'may not be used by this user; choose another, or give the user the right to'],
  ['EADDRNOTAVAIL', 'is not an address of this machine; choose an address of this machine'],
  ['ENOTFOUND', 'is not known by name; give an address'],
  ['ENAMETOOLONG', 'has too long a path; choose a shorter DATA_DIR'],
]);

/**
 * Waits until a server listens. Explains a failure.
 * @param what the address, and the variables that name it
 * @throws ConfigProblem
 */
export async function listening<Listener>(starting: Promise<Listener>, what: string): Promise<Listener> {
  try {
    return await starting;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const sentence = advice.get(code);
    if (sentence === undefined) throw error;
    throw new ConfigProblem(`${what} ${sentence}`, { cause: error });
  }
}
