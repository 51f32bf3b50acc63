const width = 30;

/** A line that shows how far a command is. It writes only to a terminal, and leaves the line empty at the end. */
interface ProgressBar {
  /** @param share from 0 to 1 */
  readonly show: (share: number) => void;
  readonly end: () => void;
}

/** @param label what the command does, for example `copying` */
export function makeProgressBar(
  label: string,
  output: Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean } = process.stderr,
): ProgressBar {
  let shown = '';
  const write = (text: string): void => {
    if (output.isTTY !== true || text === shown) return;
    output.write(`\r${text.padEnd(shown.length)}`);
    shown = text;
  };
  return {
    show: (share) => {
      const done = Math.min(1, Math.max(0, share));
      const full = Math.floor(done * width);
      write(`${label} [${'#'.repeat(full)}${'.'.repeat(width - full)}] ${Math.floor(done * 100)} %`);
    },
    end: () => {
      if (shown === '') return;
      write('');
      output.write('\r');
    },
  };
}
