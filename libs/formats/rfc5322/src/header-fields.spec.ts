import { getHeader, getHeaders, readHeaderBlock } from './header-fields';

const read = (block: string, encoding: BufferEncoding = 'utf8') =>
  readHeaderBlock(Buffer.from(block, encoding), 0, 1_000_000, () => false);

describe('readHeaderBlock', () => {
  it('unfolds values and keeps the white space of the fold', () => {
    expect(read('Subject: one\r\n two\r\n\tthree\r\n\r\nbody').headers).toEqual([
      { name: 'Subject', value: 'one two\tthree' },
    ]);
  });

  it('keeps names as written and every field in order', () => {
    expect(read('RECEIVED: b\nreceived: a\nSubject : c\n\n').headers).toEqual([
      { name: 'RECEIVED', value: 'b' },
      { name: 'received', value: 'a' },
      { name: 'Subject', value: 'c' },
    ]);
  });

  it('reads raw UTF-8 and, where it is none, windows-1252', () => {
    expect(read('Subject: Grüße\n\n').headers[0]?.value).toBe('Grüße');
    expect(read('Subject: Gr\xfc\xdfe \x80\n\n', 'latin1').headers[0]?.value).toBe('Grüße €');
  });

  it('skips an mbox line and lines that are no field', () => {
    const { headers, bodyStart } = read(
      'From ann@b.c Thu Jun 20 08:35:23 1996\nA: 1\nnonsense\nB: 2\n\nbody',
    );
    expect(headers.map(({ name }) => name)).toEqual(['A', 'B']);
    expect(bodyStart).toBe(58);
  });

  it('takes a block without any field for body', () => {
    expect(read('Hello there\n\nI have no header\n')).toEqual({
      headers: [],
      bodyStart: 0,
      truncated: false,
    });
  });

  it('has an empty body when the blank line is missing', () => {
    expect(read('A: 1\nB: 2').bodyStart).toBe(9);
  });

  it('stops at a boundary line', () => {
    const { headers, bodyStart } = readHeaderBlock(
      Buffer.from('A: 1\n--b\nB: 2\n\n'),
      0,
      1000,
      () => true,
    );
    expect([headers.length, bodyStart]).toEqual([1, 5]);
  });
});

describe('getHeader', () => {
  const headers = [
    { name: 'Received', value: 'first' },
    { name: 'received', value: 'last' },
  ];

  it('answers the last field of the name, whatever the case', () => {
    expect(getHeader(headers, 'RECEIVED')).toBe('last');
    expect(getHeader(headers, 'Subject')).toBeNull();
  });

  it('answers all of them on request', () => {
    expect(getHeaders(headers, 'Received')).toEqual(['first', 'last']);
  });
});
