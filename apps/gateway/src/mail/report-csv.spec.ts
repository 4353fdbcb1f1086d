import { prefersCsv, reportCsv } from './report-csv';

describe('a report as CSV', () => {
  it('has a header line, CRLF line ends, and empty fields for what there is not', () => {
    const csv = reportCsv({
      columns: ['at', 'p50', 'name'],
      rows: [
        { at: '2026-03-01T00:00:00.000Z', p50: 1.5, name: 'Asha, "the" Rao' },
        { at: '2026-03-02T00:00:00.000Z', p50: null, name: '' },
      ],
    });
    expect(csv.toString()).toBe(
      'at,p50,name\r\n2026-03-01T00:00:00.000Z,1.5,"Asha, ""the"" Rao"\r\n2026-03-02T00:00:00.000Z,,\r\n',
    );
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'])(
    'keeps the name %j from being a formula',
    (name) => {
      const [, line] = reportCsv({ columns: ['name'], rows: [{ name }] })
        .toString()
        .split('\r\n');
      expect(line).toMatch(/^"?'/);
    },
  );
});

describe('an Accept field', () => {
  it.each([
    ['text/csv', true],
    ['text/csv, application/json;q=0.5', true],
    ['application/json;q=0.5,TEXT/CSV', true],
    ['text/csv; header=present', true],
    ['application/json, text/csv;q=0.9', false],
    ['text/csv;q=0', false],
    ['application/json', false],
    ['*/*', false],
    ['text/*', false],
    [undefined, false],
  ])('%s asks for CSV: %s', (accept, expected) => {
    expect(prefersCsv(accept)).toBe(expected);
  });
});
