/** A block of shell commands of a file for people. */
export interface Block {
  readonly file: string;
  /** Where it stands: its heading, and the line of its first command. */
  readonly heading: string;
  readonly line: number;
  readonly commands: string;
  /** `service`: it starts the service, in the first terminal. `client`: it goes on in the second. */
  readonly terminal: 'service' | 'client';
  /** Why it is never run; null when it is. */
  readonly notRun: string | null;
  /** The environment variable that has to name a server for it; null when it needs none. */
  readonly needs: string | null;
  /** What it prints, in this order: the words after `# →`. */
  readonly prints: readonly string[];
}

/**
 * Reads the blocks fenced as `sh`. The comment above a block says `first terminal`, `needs: <variable>` or `not run: <why>`. A
 * block without a comment runs in the second terminal.
 * @throws Error for any other comment above a block
 */
export function readBlocks(file: string, markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split('\n');
  let heading = '';
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (/^#+ /.test(line)) heading = line.replace(/^#+ /, '');
    if (line !== '```sh') continue;
    const end = lines.indexOf('```', index);
    const commands = lines.slice(index + 1, end);
    const mark = markAbove(file, lines, index);
    blocks.push({
      file,
      heading,
      line: index + 2,
      commands: commands.join('\n'),
      terminal: mark === 'first terminal' ? 'service' : 'client',
      notRun: textAfter('not run: ', mark),
      needs: textAfter('needs: ', mark),
      prints: commands.map((command) => /# → (.*)$/.exec(command)?.[1]).filter((text) => text !== undefined),
    });
    index = end;
  }
  return blocks;
}

function textAfter(beginning: string, mark: string | null): string | null {
  return mark?.startsWith(beginning) === true ? mark.slice(beginning.length) : null;
}

function markAbove(file: string, lines: readonly string[], fence: number): string | null {
  const above = lines.slice(0, fence).findLast((line) => line.trim() !== '') ?? '';
  const mark = /^<!-- (.*) -->$/.exec(above)?.[1] ?? null;
  // A generated table may stand right above a block.
  if (mark === null || mark === 'end') return null;
  if (mark === 'first terminal' || /^(not run: .|needs: [A-Z][A-Z0-9_]*$)/.test(mark)) return mark;
  throw new Error(`${file}:${fence + 1}: the comment <!-- ${mark} --> has no meaning above a block`);
}
