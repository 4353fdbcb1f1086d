import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { PemPair } from '@dak/platform/tls-files';
import { readIdentity } from './sink-auth';
import { formatReply, type SinkAction, type SinkEvent, type SinkPhase } from './sink-script';

/** What the sink offers in its EHLO reply. */
export interface SinkExtensions {
  readonly pipelining: boolean;
  /** Octets; 0 leaves the extension out. */
  readonly size: number;
  readonly eightBitMime: boolean;
  readonly smtpUtf8: boolean;
  readonly startTls: boolean;
  readonly auth: readonly ('PLAIN' | 'LOGIN' | 'XOAUTH2')[];
  readonly enhancedStatusCodes: boolean;
  /** False answers EHLO with 502, as a server of RFC 821 would. */
  readonly ehlo: boolean;
}

export interface SinkMessage {
  readonly connection: number;
  readonly transaction: number;
  readonly helo: string;
  readonly tls: boolean;
  readonly user: string | null;
  readonly mailFrom: string;
  /** Parameters of MAIL as sent, for example `SIZE=120 BODY=8BITMIME`. */
  readonly mailParameters: string;
  /** Accepted forward paths, in order. */
  readonly recipients: readonly string[];
  /** Content with the dots unstuffed. */
  readonly raw: Buffer;
  /** Content as it was on the wire, without the final dot. */
  readonly wire: Buffer;
  /** False while no 250 has been written: the client cannot know that it was taken. */
  acknowledged: boolean;
}

/** What a session needs from its sink. */
export interface SinkSessionOwner {
  readonly protocol: 'smtp' | 'lmtp';
  readonly extensions: SinkExtensions;
  readonly certificate: PemPair;
  readonly credentials: { readonly user: string; readonly secret: string } | null;
  decide(event: SinkEvent): SinkAction | undefined;
  take(message: SinkMessage): void;
}

const END_OF_DATA = Buffer.from('\r\n.\r\n');

/** One connection to the sink; ends with the socket. Every command may be overruled by the script. */
export class SinkSession {
  #socket: Socket;
  #buffer: Buffer = Buffer.alloc(0);
  #wake: (() => void) | null = null;
  #ended = false;
  #silent = false;
  #transaction = 0;
  #helo = '';
  #tls = false;
  #user: string | null = null;
  #mailFrom: string | null = null;
  #mailParameters = '';
  #recipients: string[] = [];

  constructor(
    private readonly owner: SinkSessionOwner,
    private readonly connection: number,
    socket: Socket,
    tls: boolean,
  ) {
    this.#socket = socket;
    this.#tls = tls;
    this.#listen(socket);
  }

  async run(): Promise<void> {
    const { protocol } = this.owner;
    await this.#answer('connect', '', () => this.#reply(220, `sink ${protocol.toUpperCase()}`));
    while (!this.#ended) {
      const line = await this.#readLine();
      if (line === null) break;
      await this.#command(line);
    }
  }

  async #command(line: string): Promise<void> {
    const space = line.indexOf(' ');
    const verb = (space === -1 ? line : line.slice(0, space)).toUpperCase();
    const argument = space === -1 ? '' : line.slice(space + 1);
    switch (verb) {
      case 'EHLO':
      case 'LHLO':
      case 'HELO':
        return this.#answer('ehlo', argument, () => this.#hello(verb, argument));
      case 'STARTTLS':
        return this.#answer('starttls', argument, () => this.#startTls());
      case 'AUTH':
        return this.#answer('auth', argument, () => this.#authenticate(argument));
      case 'MAIL':
        return this.#answer('mail', argument, () => this.#mail(argument));
      case 'RCPT': {
        const path = pathOf(argument);
        return this.#answer('rcpt', argument, () => this.#recipient(path), path);
      }
      case 'DATA':
        return this.#answer('data', argument, () => this.#data());
      case 'RSET':
        return this.#answer('rset', argument, () => {
          this.#resetTransaction();
          this.#reply(250, '2.0.0 Reset');
        });
      case 'NOOP':
        return this.#answer('noop', argument, () => this.#reply(250, '2.0.0 Ok'));
      case 'QUIT':
        return this.#answer('quit', argument, () => {
          this.#reply(221, '2.0.0 Bye');
          this.#ended = true;
          this.#socket.end();
        });
      default:
        this.#reply(502, '5.5.1 Command not implemented');
    }
  }

  #hello(verb: string, argument: string): void {
    const { extensions, protocol } = this.owner;
    if ((verb === 'LHLO') !== (protocol === 'lmtp') || (verb === 'EHLO' && !extensions.ehlo)) {
      this.#reply(502, '5.5.1 Command not implemented');
      return;
    }
    this.#helo = argument;
    this.#resetTransaction();
    if (verb === 'HELO') {
      this.#reply(250, 'sink');
      return;
    }
    const lines = ['sink'];
    if (extensions.pipelining) lines.push('PIPELINING');
    if (extensions.size > 0) lines.push(`SIZE ${extensions.size}`);
    if (extensions.eightBitMime) lines.push('8BITMIME');
    if (extensions.smtpUtf8) lines.push('SMTPUTF8');
    if (extensions.startTls && !this.#tls) lines.push('STARTTLS');
    if (extensions.auth.length > 0) lines.push(`AUTH ${extensions.auth.join(' ')}`);
    if (extensions.enhancedStatusCodes) lines.push('ENHANCEDSTATUSCODES');
    this.#reply(250, lines.join('\n'));
  }

  async #startTls(): Promise<void> {
    this.#reply(220, '2.0.0 Go ahead');
    const plain = this.#socket;
    plain.removeAllListeners('data');
    const secured = new TLSSocket(plain, {
      isServer: true,
      secureContext: createSecureContext(this.owner.certificate),
    });
    this.#socket = secured;
    this.#buffer = Buffer.alloc(0);
    this.#tls = true;
    this.#listen(secured);
  }

  async #authenticate(argument: string): Promise<void> {
    const [mechanism = '', initial] = argument.split(' ');
    const challenge = (text: string) => this.#challenge(text);
    const identity = await readIdentity(mechanism.toUpperCase(), initial, challenge);
    if (identity === null) {
      this.#reply(504, '5.5.4 Unrecognized authentication type');
      return;
    }
    const { credentials } = this.owner;
    const { user, secret } = identity;
    if (credentials !== null && (credentials.user !== user || credentials.secret !== secret)) {
      // XOAUTH2 refuses with one more challenge, which the client answers with an empty line.
      if (mechanism.toUpperCase() === 'XOAUTH2') await this.#challenge('{"status":"401"}');
      this.#reply(535, '5.7.8 Authentication credentials invalid');
      return;
    }
    this.#user = user;
    this.#reply(235, '2.7.0 Authentication successful');
  }

  async #challenge(text: string): Promise<string> {
    this.#reply(334, Buffer.from(text).toString('base64'));
    return (await this.#readLine()) ?? '';
  }

  #mail(argument: string): void {
    this.#resetTransaction();
    const parameters = argument.slice(argument.indexOf('>') + 1).trim();
    const { size } = this.owner.extensions;
    if (size > 0 && Number(/\bSIZE=(\d+)/i.exec(parameters)?.[1] ?? 0) > size) {
      this.#reply(552, '5.3.4 Message size exceeds fixed limit');
      return;
    }
    this.#mailFrom = pathOf(argument);
    this.#mailParameters = parameters;
    this.#reply(250, '2.1.0 Ok');
  }

  #recipient(path: string): void {
    if (this.#mailFrom === null) {
      this.#reply(503, '5.5.1 Need MAIL first');
      return;
    }
    this.#recipients.push(path);
    this.#reply(250, '2.1.5 Ok');
  }

  async #data(): Promise<void> {
    if (this.#recipients.length === 0) {
      this.#reply(503, '5.5.1 No valid recipients');
      return;
    }
    this.#reply(354, 'End data with <CR><LF>.<CR><LF>');
    const wire = await this.#readContent();
    if (wire === null) return;
    const message: SinkMessage = {
      connection: this.connection,
      transaction: this.#transaction,
      helo: this.#helo,
      tls: this.#tls,
      user: this.#user,
      mailFrom: this.#mailFrom ?? '',
      mailParameters: this.#mailParameters,
      recipients: this.#recipients,
      raw: unstuff(wire),
      wire,
      acknowledged: false,
    };
    const perReply = this.owner.protocol === 'lmtp' ? this.#recipients : [null];
    let kept = false;
    for (const recipient of perReply) {
      const accept = () => {
        if (!kept) this.owner.take(message);
        kept = true;
        message.acknowledged = true;
        this.#reply(250, `2.0.0 Ok: queued as ${randomBytes(4).toString('hex')}`);
      };
      // A reset or silence after the dot leaves the client in doubt; the message was taken.
      const inDoubt = () => {
        if (!kept) this.owner.take(message);
        kept = true;
      };
      await this.#answer('final_dot', '', accept, recipient, wire.length, inDoubt);
      if (this.#ended || this.#silent) return;
    }
    this.#transaction += 1;
    this.#resetTransaction();
    await this.#answer('replied', '', () => undefined);
  }

  /** The content up to the final dot, or null when the script or the client ended the session. */
  async #readContent(): Promise<Buffer | null> {
    let searchFrom = 0;
    for (;;) {
      if (this.#buffer.length > 0) {
        await this.#answer('body', '', () => undefined, null, this.#buffer.length);
        if (this.#ended || this.#silent) return null;
      }
      if (this.#buffer.subarray(0, 3).equals(END_OF_DATA.subarray(2))) {
        this.#buffer = this.#buffer.subarray(3);
        return Buffer.alloc(0);
      }
      const end = this.#buffer.indexOf(END_OF_DATA, searchFrom);
      if (end !== -1) {
        const wire = Buffer.from(this.#buffer.subarray(0, end + 2));
        this.#buffer = this.#buffer.subarray(end + 5);
        return wire;
      }
      searchFrom = Math.max(0, this.#buffer.length - 4);
      if (!(await this.#more())) return null;
    }
  }

  /** Follows the script or, if it has nothing for this step, does `usual`. */
  async #answer(
    phase: SinkPhase,
    argument: string,
    usual: () => void | Promise<void>,
    recipient: string | null = null,
    bytes = 0,
    onNoReply: () => void = () => undefined,
  ): Promise<void> {
    if (this.#silent) return;
    let action = this.owner.decide({
      phase,
      connection: this.connection,
      transaction: this.#transaction,
      argument,
      bytes,
      recipient,
      tls: this.#tls,
    });
    while (action?.kind === 'delay') {
      await setTimeout(action.milliseconds);
      action = action.next;
    }
    if (action === undefined) return usual();
    switch (action.kind) {
      case 'reply':
        this.#reply(action.code, action.text);
        return;
      case 'reply_and_close':
        this.#reply(action.code, action.text);
        this.#ended = true;
        this.#socket.end();
        return;
      case 'write':
        this.#socket.write(action.bytes);
        return;
      case 'silence':
        onNoReply();
        this.#silent = true;
        return;
      case 'drop':
        onNoReply();
        this.#ended = true;
        if (this.#socket instanceof TLSSocket) this.#socket.destroy();
        else this.#socket.resetAndDestroy();
        return;
    }
  }

  #resetTransaction(): void {
    this.#mailFrom = null;
    this.#mailParameters = '';
    this.#recipients = [];
  }

  #reply(code: number, text: string): void {
    if (!this.#socket.destroyed) this.#socket.write(formatReply(code, text));
  }

  #listen(socket: Socket): void {
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
      this.#wake?.();
    });
    const end = () => {
      if (socket !== this.#socket) return;
      this.#ended = true;
      this.#wake?.();
    };
    socket.on('end', end);
    socket.on('close', end);
    socket.on('error', () => {
      socket.destroy();
      end();
    });
  }

  async #more(): Promise<boolean> {
    if (this.#ended) return false;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = null;
    return !this.#ended;
  }

  async #readLine(): Promise<string | null> {
    for (;;) {
      const end = this.#buffer.indexOf(0x0a);
      if (end !== -1) {
        const line = this.#buffer.toString('utf8', 0, end).replace(/\r$/, '');
        this.#buffer = this.#buffer.subarray(end + 1);
        return line;
      }
      if (!(await this.#more())) return null;
    }
  }
}

function pathOf(argument: string): string {
  return /<([^>]*)>/.exec(argument)?.[1] ?? '';
}

/** RFC 5321 §4.5.2: a leading dot is removed, whatever follows. */
function unstuff(wire: Buffer): Buffer {
  const text = wire.toString('latin1');
  if (!text.startsWith('.') && !text.includes('\r\n.')) return wire;
  return Buffer.from(text.replace(/(^|\r\n)\./g, '$1'), 'latin1');
}
