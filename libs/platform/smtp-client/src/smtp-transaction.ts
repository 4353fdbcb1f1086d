import { InvalidError } from '@dak/kernel';
import { classifySmtpReply } from './classify-smtp-reply';
import { encodeSmtpData, hasEightBitHeader, hasEightBitOctets } from './encode-smtp-data';
import { assertMailbox, needsSmtpUtf8, toAsciiMailbox } from './smtp-arguments';
import { SmtpConnectionError } from './smtp-connection';
import type { OnSmtpPhase, RecipientResult, SmtpPhase } from './smtp-phase';
import { createSmtpReply, type SmtpReply } from './smtp-reply';
import type { SmtpSession } from './smtp-session';

/** One message for one or several recipients of the same server. */
export interface SmtpSubmission {
  /** Reverse path without angle brackets; empty for the null reverse path. */
  readonly mailFrom: string;
  /** At least one; forward paths without angle brackets. */
  readonly recipients: readonly string[];
  /** RFC 5322 message. Bare CR and LF are sent as CRLF. */
  readonly raw: Buffer;
}

/** RCPT commands written ahead of their replies; keeps both ends' buffers small. */
const PIPELINE_DEPTH = 50;

/** Content up to this size is one write, which wakes both ends once less. */
const SHORT_OCTETS = 32 * 1024;

const FINAL_DOT = Buffer.from('.\r\n');

/** Refused locally because the server lacks an extension the message needs. */
const NEEDS_SMTPUTF8 = createSmtpReply(553, ['5.6.7 The server does not take this address']);
const TOO_LARGE = createSmtpReply(552, ['5.3.4 The message is larger than the server takes']);

/**
 * Sends one message over an open session and returns each recipient's result, in the order given.
 * Failures of the server and the connection are results; the session must not be used again when
 * `session.connection.failure` is set afterwards.
 *
 * @throws InvalidError for an address that could carry a command or parameter; nothing was sent
 * @throws whatever `onPhase` rejects with; the connection is closed then, and up to and including
 *   `final_dot` nothing was accepted
 */
export async function sendSmtpTransaction(
  session: SmtpSession,
  submission: SmtpSubmission,
  onPhase: OnSmtpPhase,
): Promise<RecipientResult[]> {
  assertSubmission(submission);
  const transaction = new Transaction(session, submission, onPhase);
  try {
    await transaction.run();
  } catch (error) {
    session.connection.destroy();
    if (!(error instanceof SmtpConnectionError)) throw error;
    transaction.connectionFailed(error);
  }
  return transaction.results();
}

/** @throws InvalidError */
export function assertSubmission(submission: SmtpSubmission): void {
  if (submission.mailFrom !== '') assertMailbox(submission.mailFrom, 'mailFrom');
  if (submission.recipients.length === 0) {
    throw new InvalidError('recipients is empty. Give at least one address.');
  }
  submission.recipients.forEach((address, index) => {
    assertMailbox(address, `recipients[${index}]`);
  });
}

/** A recipient while the transaction runs: undecided until `result` is set. */
interface Pending {
  readonly address: string;
  readonly path: string;
  result: RecipientResult | null;
}

class Transaction {
  readonly #pending: Pending[];
  readonly #mailFrom: string;
  #phase: SmtpPhase = 'mail';
  #dotWritten = false;

  constructor(
    private readonly session: SmtpSession,
    private readonly submission: SmtpSubmission,
    private readonly onPhase: OnSmtpPhase,
  ) {
    const toPath = (address: string) =>
      session.extensions.smtpUtf8 ? address : toAsciiMailbox(address);
    const mailFrom = toPath(submission.mailFrom);
    this.#mailFrom = mailFrom ?? '';
    this.#pending = submission.recipients.map((address) => {
      const path = toPath(address);
      const possible = path !== null && mailFrom !== null;
      const result = possible ? null : replied(address, 'mail', NEEDS_SMTPUTF8, 'rejected');
      return { address, path: path ?? '', result };
    });
  }

  results(): RecipientResult[] {
    return this.#pending.map(
      ({ address, result }) =>
        result ?? { recipient: address, outcome: 'deferred', phase: this.#phase },
    );
  }

  /** RFC 5321 §4.2.4.1 and §6.1: without a reply to the dot the outcome is unknown. */
  connectionFailed(error: SmtpConnectionError): void {
    const outcome = this.#dotWritten ? 'ambiguous' : 'deferred';
    for (const pending of this.#undecided()) {
      pending.result = {
        recipient: pending.address,
        outcome,
        phase: this.#phase,
        reason: error.message,
      };
    }
  }

  async run(): Promise<void> {
    const { session } = this;
    const { sizeLimit } = session.extensions;
    const wire = encodeSmtpData(this.submission.raw);
    if (sizeLimit > 0 && wire.length > sizeLimit) this.#decideAll(TOO_LARGE, 'rejected');
    if (this.#undecided().length === 0) return;

    session.transactions += 1;
    await this.#enter('mail');
    if (session.needsReset) await session.connection.command('RSET', session.timeouts.mail);
    session.needsReset = true;
    if (!(await this.#envelope(wire))) return;

    await this.#enter('data');
    const go = await this.#command('DATA', session.timeouts.data);
    if (go.code !== 354) {
      this.#decideAll(go);
      return;
    }
    await this.#content(wire);
  }

  /** MAIL and RCPT; true when at least one recipient was accepted. */
  async #envelope(wire: Buffer): Promise<boolean> {
    const { connection, extensions, timeouts } = this.session;
    const recipients = this.#undecided();
    const mail = `MAIL FROM:<${this.#mailFrom}>${this.#mailParameters(wire)}`;
    const depth = extensions.pipelining ? PIPELINE_DEPTH : 1;
    const commands = recipients.map(({ path }) => `RCPT TO:<${path}>\r\n`);
    let written = 0;
    if (extensions.pipelining) {
      written = Math.min(depth, commands.length);
      connection.write(`${mail}\r\n${commands.slice(0, written).join('')}`);
    } else {
      connection.write(`${mail}\r\n`);
    }
    const mailReply = this.#checked(await connection.readReply(timeouts.mail));
    const mailRefused = mailReply.code < 200 || mailReply.code > 299;
    if (mailRefused) this.#decideAll(mailReply);
    else await this.#enter('rcpt');

    for (let read = 0; read < recipients.length; read += 1) {
      if (mailRefused && read >= written) break;
      if (read >= written) {
        const batch = commands.slice(written, written + depth);
        connection.write(batch.join(''));
        written += batch.length;
      }
      const reply = this.#checked(await connection.readReply(timeouts.rcpt));
      const pending = recipients[read]!;
      const refused = reply.code < 200 || reply.code > 299;
      if (refused && !mailRefused) pending.result = this.#verdict(pending, reply);
    }
    return !mailRefused && this.#undecided().length > 0;
  }

  #mailParameters(wire: Buffer): string {
    const { extensions } = this.session;
    let parameters = '';
    if (extensions.size) parameters += ` SIZE=${wire.length}`;
    // Without the extension 8-bit content is sent as it is: every server in use passes it, and a
    // conversion would break signatures.
    if (extensions.eightBitMime && hasEightBitOctets(wire)) parameters += ' BODY=8BITMIME';
    if (extensions.smtpUtf8) {
      const addresses = [this.submission.mailFrom, ...this.submission.recipients];
      if (addresses.some(needsSmtpUtf8) || hasEightBitHeader(wire)) parameters += ' SMTPUTF8';
    }
    return parameters;
  }

  async #content(wire: Buffer): Promise<void> {
    const { connection, timeouts } = this.session;
    await this.#enter('body');
    // What fits into one write goes out together with the final dot.
    const isShort = wire.length <= SHORT_OCTETS;
    if (!isShort) await connection.writeBlocks(wire, timeouts.body);
    if (!connection.hasUnreadReply) await this.#enter('final_dot');
    if (connection.hasUnreadReply) {
      // Said in the middle of the content, so before the message was complete.
      const reply = await connection.readReply(0);
      const early = reply.code < 400 ? createSmtpReply(451, ['4.5.0 Reply before the end']) : reply;
      this.#decideAll(early);
      connection.destroy();
      return;
    }
    if (connection.failure !== null) throw connection.failure;
    this.#dotWritten = true;
    connection.write(isShort ? Buffer.concat([wire, FINAL_DOT]) : FINAL_DOT, () => {
      this.#dotWritten = false;
      this.#phase = 'body';
    });
    const accepted = this.#undecided();
    if (this.session.protocol === 'lmtp') {
      // RFC 2033 §4.2: one reply per accepted recipient, in order.
      for (const pending of accepted) {
        const reply = this.#checked(await connection.readReply(timeouts.finalDot));
        pending.result = this.#verdict(pending, reply);
      }
    } else {
      const reply = this.#checked(await connection.readReply(timeouts.finalDot));
      for (const pending of accepted) pending.result = this.#verdict(pending, reply);
    }
    this.session.needsReset = false;
    if (accepted.some(({ result }) => result?.outcome === 'accepted')) {
      await this.#enter('accepted');
    }
  }

  async #enter(phase: SmtpPhase): Promise<void> {
    this.#phase = phase;
    await this.onPhase(phase);
  }

  async #command(line: string, timeoutMs: number): Promise<SmtpReply> {
    return this.#checked(await this.session.connection.command(line, timeoutMs));
  }

  /** RFC 5321 §3.8: after 421 the server closes, so nothing more is sent. */
  #checked(reply: SmtpReply): SmtpReply {
    if (reply.code === 421) {
      this.#decideAll(reply);
      this.session.connection.destroy();
    }
    return reply;
  }

  #verdict({ address }: Pending, reply: SmtpReply): RecipientResult {
    if (reply.code >= 300 && reply.code < 400) {
      return replied(address, this.#phase, reply, this.#dotWritten ? 'ambiguous' : 'deferred');
    }
    const { outcome, retryAfterSeconds } = classifySmtpReply(this.#phase, reply);
    const result = replied(address, this.#phase, reply, outcome);
    return retryAfterSeconds === undefined ? result : { ...result, retryAfterSeconds };
  }

  #decideAll(reply: SmtpReply, outcome?: 'rejected'): void {
    for (const pending of this.#undecided()) {
      pending.result =
        outcome === undefined
          ? this.#verdict(pending, reply)
          : replied(pending.address, this.#phase, reply, outcome);
    }
  }

  #undecided(): Pending[] {
    return this.#pending.filter(({ result }) => result === null);
  }
}

function replied(
  recipient: string,
  phase: SmtpPhase,
  { code, enhanced, text }: SmtpReply,
  outcome: RecipientResult['outcome'],
): RecipientResult {
  return { recipient, outcome, phase, reply: { code, enhanced, text } };
}
