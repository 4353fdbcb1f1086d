/** The message with another Date field (RFC 5322 §3.6.1); everything else keeps its bytes. */
export function redate(raw: Buffer, date: Date): Buffer {
  const end = raw.indexOf('\r\n\r\n');
  const header = raw.subarray(0, end < 0 ? raw.length : end).toString('latin1');
  const field = /(^|\r\n)Date: [^\r\n]*/i.exec(header);
  if (field === null) return raw;
  const value = date.toUTCString().replace('GMT', '+0000');
  return Buffer.concat([
    raw.subarray(0, field.index),
    Buffer.from(`${field[1]!}Date: ${value}`, 'latin1'),
    raw.subarray(field.index + field[0].length),
  ]);
}
