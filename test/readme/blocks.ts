/** A block of shell commands of a file for people. */
export interface Block {
  readonly file: string;
  /** Where it stands: its heading, and the line of its first command. */
  readonly heading: string;
  readonly line: number;
  readonly commands: string;
  /** `service`: it starts the service, in the first terminal. `client`: it goes on in the second. */
  readonly terminal: 'service' | 'client';
  /** Why it is not run; null when it is. */
  readonly notRun: string | null;
  /** What it prints, in this order: the words after `# →`. */
  readonly prints: readonly string[];
}

/**
 * The blocks fenced as `sh`. The comment above a block says `first terminal` or `not run: <why>`; a block without one is run
 * in the second terminal.
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
      notRun: mark?.startsWith('not run: ') === true ? mark.slice('not run: '.length) : null,
      prints: commands.map((command) => /# → (.*)$/.exec(command)?.[1]).filter((text) => text !== undefined),
    });
    index = end;
  }
  return blocks;
}

function markAbove(file: string, lines: readonly string[], fence: number): string | null {
  const above = lines.slice(0, fence).findLast((line) => line.trim() !== '') ?? '';
  const mark = /^<!-- (.*) -->$/.exec(above)?.[1] ?? null;
  if (mark === null || mark === 'first terminal' || /^not run: ./.test(mark)) return mark;
  throw new Error(`${file}:${fence + 1}: nobody knows what is meant by <!-- ${mark} -->`);
}
