import { writeTable } from '../report.js';
import type { Figures, PeerRow } from './sides.js';

/** Writes the table of docs/benchmarks.md#beside-other-programs, the rows that are lost included. */
export function writePeers(rows: readonly PeerRow[]): void {
  writeTable('peers', [
    '| row | program | a second | p50, p99 ms | CPU ms | fsyncs | page writes | Stowage / it (CPU) | goal |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows.flatMap(linesOf),
  ]);
}

function linesOf({ what, goal, figures: [ours, ...peers], by }: PeerRow): readonly string[] {
  if (ours === undefined) return [];
  return [
    line([what, ...columnsOf(ours), '', goal]),
    ...peers.map((peer) => line(['', ...columnsOf(peer), ratioOf(ours, peer, by), ''])),
  ];
}

function columnsOf({ program, perSecond, p50, p99, cpuMs, calls }: Figures): readonly string[] {
  const both = (name: 'fsyncs' | 'writes'): string =>
    calls === null ? '' : `${number(calls.alone[name])}, ${number(calls.together[name])}`;
  return [
    program,
    number(perSecond),
    `${number(p50)}, ${number(p99)}`,
    number(cpuMs),
    both('fsyncs'),
    both('writes'),
  ];
}

/** Names a row that the service loses: a lower rate, or more CPU or a longer 99th percentile where the row compares these. */
function ratioOf(ours: Figures, peer: Figures, by: PeerRow['by']): string {
  const [rate, cpu, p99] = [ours.perSecond / peer.perSecond, ours.cpuMs / peer.cpuMs, ours.p99 / peer.p99];
  const lost = by === 'rate' && rate < 1 ? ', **lost**' : '';
  return by === 'p99' ? `p99 ${number(p99)}` : `${number(rate)} (${number(cpu)})${lost}`;
}

function number(figure: number): string {
  if (figure === 0 || figure >= 100) return Math.round(figure).toLocaleString('en');
  return figure >= 10 ? figure.toFixed(0) : figure.toPrecision(2);
}

function line(cells: readonly string[]): string {
  return `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`;
}
