import { countReceivedFields } from './count-received-fields';

const count = (text: string) => countReceivedFields(Buffer.from(text));

describe('counting Received fields', () => {
  it.each([
    ['none', 'Subject: x\r\n\r\nReceived: in the body\r\n', 0],
    ['every spelling', 'Received: a\r\nRECEIVED: b\r\nreceived: c\r\n\r\n', 3],
    ['no other field', 'Received-SPF: pass\r\nX-Received: a\r\nReceive: b\r\n\r\n', 0],
    ['no continuation line', 'Received: a\r\n Received: b\r\n\tReceived: c\r\n\r\n', 1],
    ['bare line feeds', 'Received: a\nReceived: b\n\nReceived: c\n', 2],
    ['a header section without end', 'Received: a\r\nReceived:', 2],
    ['nothing', '', 0],
  ])('counts %s', (_, text, expected) => {
    expect(count(text)).toBe(expected);
  });
});
