import type { Measurement } from './measurement';
import { renderTable } from './measurement';

/** What the page shows; kept beside it, so that a run of some sections leaves the others as they were. */
export interface Report {
  /** A line each, of the last run. */
  readonly conditions: readonly string[];
  readonly sections: Readonly<Record<string, SectionResult>>;
}

export interface SectionResult {
  /** Day of the run, `2026-11-21`. */
  readonly date: string;
  /** Shortened: good for nothing but to see that the bench works. */
  readonly isQuick: boolean;
  readonly measurements: readonly Measurement[];
}

/** `ran` replaces its sections; `order` names all there are. */
export function mergeReports(known: Report | null, ran: Report, order: readonly string[]): Report {
  const all = { ...known?.sections, ...ran.sections };
  const sections = order.flatMap((name) => {
    const section = all[name];
    return section === undefined ? [] : [[name, section] as const];
  });
  return { conditions: ran.conditions, sections: Object.fromEntries(sections) };
}

export function measurementsOf(report: Report): Measurement[] {
  return Object.values(report.sections).flatMap(({ measurements }) => measurements);
}

/** Beyond this, a peer is not what it was, and neither is the machine: ratios of the two runs cannot be compared. */
const DRIFT = 1 / 3;

/** A sentence per peer whose own rate is off its record. */
export function driftOfPeers(known: Report | null, ran: Report): string[] {
  const records = new Map(
    known === null ? [] : measurementsOf(known).map((line) => [line.what, line]),
  );
  return measurementsOf(ran).flatMap(({ what, peer, peerRate }) => {
    const record = records.get(what)?.peerRate;
    if (peerRate === undefined || record === undefined) return [];
    const change = peerRate / record - 1;
    if (Math.abs(change) <= DRIFT) return [];
    const percent = `${change > 0 ? '+' : ''}${Math.round(change * 100)} %`;
    return [
      `${peer}: ${percent} against its record, so that this machine is another one today (${what})`,
    ];
  });
}

/** Table, conditions and dates in Markdown. */
export function renderReport(report: Report): string {
  const dates = Map.groupBy(
    Object.entries(report.sections),
    ([, { date, isQuick }]) => `${date}${isQuick ? ', --quick: too short for a verdict' : ''}`,
  );
  const lines = [
    ...report.conditions,
    ...[...dates].map(([date, some]) => `${some.map(([name]) => name).join(', ')}: ${date}`),
  ];
  return `${renderTable(measurementsOf(report))}\n\n${lines.map((line) => `- ${line}`).join('\n')}\n`;
}
