import { stringify } from 'csv-stringify/sync';
import type { ReportRecord } from '@dak/contracts/api';

/**
 * RFC 4180 with a header line. A name that begins like a formula is kept from being one: spreadsheets
 * would run it when the file is opened.
 */
export function reportCsv({ columns, rows }: Pick<ReportRecord, 'columns' | 'rows'>): Buffer {
  const text = stringify([...rows], {
    columns: [...columns],
    header: true,
    escape_formulas: true,
    record_delimiter: 'windows',
  });
  return Buffer.from(text, 'utf8');
}

/** Whether an Accept field asks for CSV rather than JSON (RFC 9110 §12.5.1). */
export function prefersCsv(accept: string | undefined): boolean {
  const csv = qualityOf(accept, 'text/csv');
  // A client that takes anything gets JSON.
  return csv > 0 && namesIt(accept, 'text/csv') && csv >= qualityOf(accept, 'application/json');
}

function namesIt(accept: string | undefined, type: string): boolean {
  return rangesOf(accept).some(({ range }) => range === type);
}

/** The most specific range that covers the type decides. */
function qualityOf(accept: string | undefined, type: string): number {
  const ranges = rangesOf(accept);
  for (const range of [type, `${type.split('/')[0]}/*`, '*/*']) {
    const found = ranges.find((entry) => entry.range === range);
    if (found !== undefined) return found.quality;
  }
  return 0;
}

function rangesOf(accept = ''): { range: string; quality: number }[] {
  return accept.split(',').map((part) => {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    const quality = weight === undefined ? 1 : Number(weight.slice(2));
    return { range, quality: Number.isFinite(quality) ? quality : 0 };
  });
}
