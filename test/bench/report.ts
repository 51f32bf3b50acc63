import { readFileSync, writeFileSync } from 'node:fs';
import { type Comparison, describeMachine, format, isMet } from './measure.js';

const file = new URL('../../../docs/benchmarks.md', import.meta.url);
/** Replaces the measured part of docs/benchmarks.md#benchmarks. The explanations around it are written by hand. */
export function writeReport(comparisons: readonly Comparison[]): void {
  writeTable('measured', [
    '| what | ours | anchor | ratio | goal |',
    '|---|---|---|---|---|',
    ...comparisons.map(row),
  ]);
}

/** Replaces the table between the markers of a name in the document. */
export function writeTable(name: string, lines: readonly string[]): void {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const text = readFileSync(file, 'utf8');
  const [before, rest] = split(text, begin);
  const [, after] = split(rest, end);
  const measured = `Measured ${new Date().toISOString().slice(0, 10)} on ${describeMachine()}.`;
  writeFileSync(
    file,
    `${before}${[begin, '', measured, '', '<!-- prettier-ignore -->', ...lines, '', end].join('\n')}${after}`,
  );
}

function row({ what, unit, ours, anchor, anchors, ratio, goal }: Comparison): string {
  const wanted = goal === null ? '' : 'atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`;
  const verdict = goal === null ? '' : isMet(ratio, goal) ? ', met' : ', **missed**';
  return `| ${what} | ${format(ours)} ${unit} | ${anchor}: ${format(anchors)} | ${ratio.toFixed(2)} | ${wanted}${verdict} |`;
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`docs/benchmarks.md lacks ${mark}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}
