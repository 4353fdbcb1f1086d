/**
 * Those beside an attack, in a process of their own, so that the attacker's work does not count as theirs: a user who
 * lists, reads and composes, and another organization that receives mail. Told by its arguments where Dak is; answers
 * every message of its parent with what was measured since the one before.
 */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { timePasses } from '@dak/testing/waiting';

export interface NeighborsAt {
  baseUrl: string;
  smtpPort: number;
  user: { key: string; mailboxId: string };
  receiver: { key: string; address: string };
}

export interface Measured {
  /** Milliseconds of every answer that the user got. */
  answers: number[];
  /** Milliseconds from the 250 for a mail until a list shows it; so far, for one that is not there yet. */
  visible: number[];
  /** What a user or sender should not get: errors, refusals, broken connections. */
  failures: string[];
}

/** The user asks this often: modest, and enough for a percentile within seconds. */
const ASK_EVERY_MS = 10;
const MAIL_EVERY_MS = 250;
const LOOK_EVERY_MS = 100;
const USER = { keepAlive: true, localAddress: '127.0.0.2' };
const RECEIVER = { keepAlive: true, localAddress: '127.0.0.3' };
const SENDER = '127.0.0.4';

const at = JSON.parse(process.argv[2]!) as NeighborsAt;
let measured: Measured = { answers: [], visible: [], failures: [] };
const waiting = new Map<string, number>();
const agents = { user: new Agent(USER), receiver: new Agent(RECEIVER) };

function ask(
  agent: Agent,
  key: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; text: string; ms: number }> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = request(
      at.baseUrl + path,
      {
        agent,
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (part: string) => (text += part));
        incoming.on('end', () =>
          resolve({ status: incoming.statusCode!, text, ms: performance.now() - began }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function userAsks(turn: number, conversations: readonly string[]): Promise<void> {
  const { key, mailboxId } = at.user;
  const [method, path, body] =
    turn % 10 === 9
      ? ([
          'POST',
          '/compose/send',
          {
            mailbox_id: mailboxId,
            to: ['someone@quick.example'],
            subject: `n${turn}`,
            body_text: 'hi',
          },
        ] as const)
      : turn % 2 === 0
        ? (['GET', '/conversations'] as const)
        : ([
            'GET',
            `/conversations/${conversations[turn % conversations.length]}/messages`,
          ] as const);
  try {
    const { status, ms } = await ask(agents.user, key, method, path, body);
    if (status >= 300) measured.failures.push(`${method} ${path}: ${status}`);
    measured.answers.push(ms);
  } catch (error) {
    measured.failures.push(`${method} ${path}: ${String(error)}`);
  }
}

/** One mail over SMTP, in a session of its own. */
function sendMail(subject: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: at.smtpPort, localAddress: SENDER });
    const steps = [
      'EHLO neighbor.example\r\n',
      'MAIL FROM:<ada@elsewhere.example>\r\n',
      `RCPT TO:<${at.receiver.address}>\r\n`,
      'DATA\r\n',
      `From: ada@elsewhere.example\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@elsewhere.example>\r\n\r\nhello\r\n.\r\n`,
    ];
    let said = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (!/^\d{3} .*\r\n$/m.test(said)) return;
      if (!/^[23]/.test(said)) reject(new Error(said));
      else if (steps.length === 0) resolve();
      else socket.write(steps.shift()!);
      if (!/^[23]/.test(said) || said.startsWith('250 2.6.0')) socket.destroy();
      said = '';
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed')));
  });
}

async function mailComes(number: number): Promise<void> {
  const subject = `mail-${process.pid}-${number}`;
  try {
    await sendMail(subject);
    waiting.set(subject, performance.now());
  } catch (error) {
    measured.failures.push(`SMTP: ${String(error)}`);
  }
}

async function receiverLooks(): Promise<void> {
  if (waiting.size === 0) return;
  const { status, text } = await ask(
    agents.receiver,
    at.receiver.key,
    'GET',
    '/conversations?status=all&per_page=50',
  );
  if (status !== 200) return;
  const listed = (JSON.parse(text) as { data: { subject: string }[] }).data;
  for (const { subject } of listed) {
    const since = waiting.get(subject);
    if (since === undefined) continue;
    measured.visible.push(performance.now() - since);
    waiting.delete(subject);
  }
}

async function main(): Promise<void> {
  const { text } = await ask(agents.user, at.user.key, 'GET', '/conversations?status=all');
  const conversations = (JSON.parse(text) as { data: { id: string }[] }).data.map(({ id }) => id);
  let turn = 0;
  setInterval(() => void userAsks((turn += 1), conversations), ASK_EVERY_MS);
  let mails = 0;
  setInterval(() => void mailComes((mails += 1)), MAIL_EVERY_MS);
  process.on('message', () => {
    const now = performance.now();
    const unseen = [...waiting.values()].map((since) => now - since);
    process.send!({ ...measured, visible: [...measured.visible, ...unseen] } satisfies Measured);
    measured = { answers: [], visible: [], failures: [] };
  });
  process.on('disconnect', () => process.exit());
  for (;;) {
    await receiverLooks().catch(() => undefined);
    await timePasses(LOOK_EVERY_MS);
  }
}

void main();
