import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';

/** Ends an attack; resolves when nothing of it is left on the wire. */
export type EndAttack = () => Promise<void>;

/** Attackers have many addresses. */
let addresses = 0;
export function strangeAddress(): string {
  addresses += 1;
  return `127.66.${(addresses >> 8) & 255}.${addresses & 255}`;
}

/**
 * Begins so many a second, whatever becomes of those before, but for at most `most` under way. The rate has a bound
 * because attacker, Dak and database share the processors of one machine: beyond it the attacker alone would hold up
 * everybody.
 */
export function keepAtIt(
  perSecond: number,
  most: number,
  work: (turn: number) => Promise<unknown>,
): EndAttack {
  const underWay = new Set<Promise<unknown>>();
  let turns = 0;
  let due = 0;
  const timer = setInterval(() => {
    due = Math.min(due + (perSecond * TICK_MS) / 1_000, most);
    while (due >= 1) {
      due -= 1;
      if (underWay.size >= most) continue;
      const one: Promise<unknown> = work((turns += 1))
        .catch(() => undefined)
        .finally(() => underWay.delete(one));
      underWay.add(one);
    }
  }, TICK_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(underWay);
  };
}
const TICK_MS = 10;

/** Requests over connections of one address each. */
export class AttackingClient {
  readonly #agent: Agent;

  constructor(
    private readonly baseUrl: string,
    localAddress = strangeAddress(),
  ) {
    this.#agent = new Agent({ keepAlive: true, localAddress });
  }

  ask(
    method: string,
    path: string,
    { key, body }: { key?: string; body?: object } = {},
  ): Promise<number> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        this.baseUrl + path,
        {
          agent: this.#agent,
          method,
          headers: {
            ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
        },
        (incoming) => {
          incoming.resume().on('end', () => resolve(incoming.statusCode!));
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

/** Sockets that send a character a second each and are opened again when they are cut. */
export function trickle(port: number, count: number, beginning: string): EndAttack {
  const sockets = new Set<Socket>();
  let isOver = false;
  const open = () => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: strangeAddress() });
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => undefined);
    socket.on('connect', () => socket.write(beginning));
    socket.on('close', () => {
      sockets.delete(socket);
      if (!isOver) setTimeout(open, 200);
    });
  };
  for (let i = 0; i < count; i += 1) open();
  const timer = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('x');
  }, 1_000);
  return async () => {
    isOver = true;
    clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  };
}

/** One mail in a session of its own, in as few writes as can be; resolves with the last reply. */
export function throwMail(
  port: number,
  { to, content, client }: { to: string; content: Buffer; client: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: client });
    const steps: (string | Buffer)[] = [
      'EHLO attacker.example\r\n',
      'MAIL FROM:<flood@attacker.example>\r\n',
      `RCPT TO:<${to}>\r\n`,
      'DATA\r\n',
      content,
    ];
    let said = '';
    let isOver = false;
    socket.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (!/^\d{3} .*\r\n$/m.test(said)) return;
      const reply = said;
      said = '';
      if (isOver || !/^[23]/.test(reply)) {
        resolve(reply);
        socket.destroy();
        return;
      }
      isOver = steps.length === 1;
      socket.write(steps.shift()!);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed')));
  });
}

let mails = 0;

/** Header, body and the final dot, ready for the wire. */
export function mailOf(body: string | Buffer, type = 'text/plain; charset=utf-8'): Buffer {
  mails += 1;
  const header = [
    'From: flood@attacker.example',
    `Subject: flood ${mails}`,
    `Message-ID: <flood-${mails}@attacker.example>`,
    'MIME-Version: 1.0',
    `Content-Type: ${type}`,
    '',
    '',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(header), Buffer.from(body), Buffer.from('\r\n.\r\n')]);
}

/** Lines of base64 as a large attachment has them. */
export function largeBody(bytes: number): Buffer {
  const line = Buffer.from(`${'QUJD'.repeat(19)}\r\n`);
  return Buffer.alloc(bytes, line);
}

/** Parts within parts. */
export function deepBody(levels: number): { body: string; type: string } {
  const opening: string[] = [];
  for (let level = 1; level <= levels; level += 1) {
    opening.push(`--b${level - 1}\r\nContent-Type: multipart/mixed; boundary=b${level}\r\n\r\n`);
  }
  return { body: opening.join(''), type: 'multipart/mixed; boundary=b0' };
}

/** Many small parts side by side. */
export function wideBody(parts: number): { body: string; type: string } {
  return {
    body: `${'--b\r\nContent-Type: text/plain\r\n\r\nx\r\n'.repeat(parts)}--b--`,
    type: 'multipart/mixed; boundary=b',
  };
}
