import type { Measurement } from './measurement';

const WIDTH = 960;
const ROW = 22;
const TOP = 44;
const LABEL = 520;
const LONGEST = 3;
const SCALE = (WIDTH - LABEL - 70) / LONGEST;

/** Bars of how far every judged figure is from its bar: at 1 and beyond, it holds. Longer than 3 is cut. */
export function renderChart(measurements: readonly Measurement[]): string {
  const judged = measurements.flatMap((line) =>
    line.margin === null ? [] : [{ ...line, margin: line.margin }],
  );
  const height = TOP + judged.length * ROW + 16;
  const bars = judged.map((line, index) => {
    const y = TOP + index * ROW;
    const length = Math.max(1, Math.min(line.margin, LONGEST) * SCALE);
    const color = line.verdict === 'held' ? '#2f855a' : '#c53030';
    return [
      `<text x="${LABEL - 10}" y="${y + 15}" text-anchor="end">${escapeXml(`${line.section}: ${line.label}`)}</text>`,
      `<rect x="${LABEL}" y="${y + 3}" width="${length.toFixed(1)}" height="${ROW - 7}" fill="${color}"/>`,
      `<text x="${(LABEL + length + 6).toFixed(1)}" y="${y + 15}">${line.margin.toFixed(2)}</text>`,
    ].join('');
  });
  const bar = LABEL + SCALE;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#1a202c">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="${bar}" y="20" text-anchor="middle">the bar</text>`,
    `<text x="${bar + 8}" y="36" fill="#4a5568">holds →</text>`,
    ...bars,
    `<line x1="${bar}" y1="26" x2="${bar}" y2="${height - 10}" stroke="#1a202c" stroke-dasharray="4 3"/>`,
    '</svg>',
    '',
  ].join('\n');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
