import { CommandRejected } from '../../../src/event-sourcing/ports/errors.js';

/** Returns the outcome of work in a word: `passed`, the code of the rejection, or the name of any other error. */
export async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'passed';
  } catch (error) {
    if (error instanceof CommandRejected) return String(error.code);
    return error instanceof Error ? error.name : String(error);
  }
}
