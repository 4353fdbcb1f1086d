import { createHash } from 'node:crypto';
import { contentHash } from './content-identity';

const sha256 = (text: string) => createHash('sha256').update(text, 'latin1').digest('hex');
const hashOf = async (text: string) =>
  (await contentHash(Buffer.from(text, 'latin1'))).toString('hex');

describe('the hash of a message', () => {
  it('is of its fields and its body, without trace fields, carriage returns and empty lines at the end', async () => {
    const kept = 'Subject: x\n folded\nFrom: a@b.example\n\nbody \xe9\n\nReceived: of the body';
    const raw = `Received: from a\r\n\tby b\r\nSubject: x\r\n folded\r\nX-Spam: no\r\nFrom: a@b.example\r\n\r\nbody \xe9\r\n\r\nReceived: of the body\r\n\r\n`;
    expect(await hashOf(raw)).toBe(sha256(kept));
    expect(await hashOf(kept)).toBe(sha256(kept));
  });

  it.each([
    ['a large body', 'Subject: x\r\n\r\n', '0123456789\r\n'],
    ['many fields', '', 'Field: 0123456789\r\n'],
  ])('of %s lets others have their turn', async (_, beginning, line) => {
    const raw = `${beginning}${line.repeat(Math.ceil((8 * 1024 * 1024) / line.length))}`;
    let turns = 0;
    let turn = setImmediate(function count() {
      turns += 1;
      turn = setImmediate(count);
    });
    const hash = await hashOf(raw);
    clearImmediate(turn);
    expect(hash).toBe(sha256(raw.replaceAll('\r', '').replace(/\n+$/, '')));
    expect(turns).toBeGreaterThanOrEqual(7);
  });
});
