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
