import { cpus, totalmem } from 'node:os';

/** One line of the report: our figure against that of an anchor, measured alternately in one run. */
export interface Comparison {
  readonly what: string;
  /** The anchor that the figure is compared with. */
  readonly anchor: string;
  readonly unit: string;
  /** Median of the rounds. */
  readonly ours: number;
  readonly anchors: number;
  /** Median of the ratios of the rounds. */
  readonly ratio: number;
  readonly goal: { readonly atLeast: number } | { readonly atMost: number } | null;
}

/**
 * Alternates our rounds with those of the anchor, so a machine that slows down slows both. The first round does not
 * count.
 */
export async function compare(
  subject: Pick<Comparison, 'what' | 'anchor' | 'unit' | 'goal'>,
  rounds: number,
  measure: { readonly ours: () => Promise<number>; readonly anchor: () => Promise<number> },
): Promise<Comparison> {
  const figures: { readonly ours: number; readonly anchor: number }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const anchor = await measure.anchor();
    const ours = await measure.ours();
    if (round > 0) figures.push({ ours, anchor });
  }
  const comparison = {
    ...subject,
    ours: median(figures.map((figure) => figure.ours)),
    anchors: median(figures.map((figure) => figure.anchor)),
    ratio: median(figures.map((figure) => figure.ours / figure.anchor)),
  };
  process.stdout.write(`${describe(comparison)}\n`);
  return comparison;
}

export function describe({ what, anchor, unit, ours, anchors, ratio, goal }: Comparison): string {
  const verdict = goal === null ? '' : isMet(ratio, goal) ? ' (met)' : ' (MISSED)';
  return `${what}: ${format(ours)} ${unit}, ${anchor} ${format(anchors)}: ratio ${ratio.toFixed(2)}${verdict}`;
}

export function isMet(ratio: number, goal: NonNullable<Comparison['goal']>): boolean {
  return 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost;
}

export function format(figure: number): string {
  return figure >= 100 ? Math.round(figure).toLocaleString('en') : figure.toPrecision(3);
}

export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Describes the machine for a reader who judges a figure. */
export function describeMachine(): string {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${memory} GiB, ${process.platform}, Node ${process.version}`;
}
