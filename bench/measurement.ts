/** One line of the table. */
export interface Measurement {
  readonly section: string;
  readonly what: string;
  /** In a few words, for the picture. */
  readonly label: string;
  /** With its unit. */
  readonly measured: string;
  /** What it is compared with, with its unit; empty when the bar is absolute. */
  readonly peer: string;
  /** Of the peer, per second; absent when it is measured otherwise. */
  readonly peerRate?: number;
  /** Measured to peer, or measured to bar; null when the line only informs. */
  readonly ratio: number | null;
  /** What has to hold, such as `≥ 1.5 ×`; empty when the line only informs. */
  readonly bar: string;
  /** How far from the bar: 1 and more holds; null when the line only informs. */
  readonly margin: number | null;
  readonly verdict: 'held' | 'MISSED' | 'noted' | 'peer absent';
}

type Comparison = 'at least' | 'at most';

/** A line whose ratio to a peer or to an absolute figure has a bar. */
export function judged(line: {
  section: string;
  what: string;
  /** @default `what` */
  label?: string;
  measured: string;
  peer?: string;
  peerRate?: number;
  ratio: number;
  comparison: Comparison;
  bar: number;
  /** How the bar reads. @default the comparison with `×` */
  barText?: string;
}): Measurement {
  const margin =
    line.comparison === 'at least'
      ? line.ratio / line.bar
      : line.bar / Math.max(line.ratio, Number.EPSILON);
  const sign = line.comparison === 'at least' ? '≥' : '≤';
  return {
    section: line.section,
    what: line.what,
    label: line.label ?? line.what,
    measured: line.measured,
    peer: line.peer ?? '',
    ...(line.peerRate === undefined ? {} : { peerRate: line.peerRate }),
    ratio: line.ratio,
    bar: line.barText ?? `${sign} ${line.bar} ×`,
    // Figures in a file have no infinity, and more than this says nothing more.
    margin: Math.max(0, Math.min(margin, 100)),
    verdict: margin >= 1 ? 'held' : 'MISSED',
  };
}

export function noted(section: string, what: string, measured: string, peer = ''): Measurement {
  return {
    ...{ section, what, label: what, measured, peer },
    ...{ ratio: null, bar: '', margin: null, verdict: 'noted' },
  };
}

export function peerAbsent(section: string, what: string, bar: string): Measurement {
  return {
    ...{ section, what, label: what, measured: '–', peer: 'PEER ABSENT', ratio: null, bar },
    margin: null,
    verdict: 'peer absent',
  };
}

const HEADINGS = ['Section', 'What', 'Measured', 'Against', 'Ratio', 'Bar', 'Verdict'] as const;

/** Markdown, with columns aligned so that it reads as plain text too. */
export function renderTable(measurements: readonly Measurement[]): string {
  const rows = measurements.map((line) => [
    line.section,
    line.what,
    line.measured,
    line.peer,
    line.ratio === null ? '' : line.ratio.toFixed(2),
    line.bar,
    line.verdict,
  ]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]!.length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(HEADINGS), rule, ...rows.map(line)].join('\n');
}

/** @throws Error for an empty list */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new Error('There is nothing measured.');
  return (upper + lower) / 2;
}

/** `values` sorted ascending; `share` from 0 to 1. */
export function percentile(values: readonly number[], share: number): number {
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
}

export function perSecond(rate: number): string {
  return `${Math.round(rate).toLocaleString('en-US')}/s`;
}

/** The median of rounds with the smallest and the largest. */
export function perSecondOf(rates: readonly number[]): string {
  const [least, most] = [Math.min(...rates), Math.max(...rates)].map(Math.round);
  if (rates.length < 2) return perSecond(median(rates));
  return `${perSecond(median(rates))} (${least!.toLocaleString('en-US')}–${most!.toLocaleString('en-US')})`;
}

export function milliseconds(time: number): string {
  return `${time < 10 ? time.toFixed(2) : time.toFixed(1)} ms`;
}
