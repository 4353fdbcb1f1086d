import { assertCommandArgument } from './smtp-arguments';
import { authenticate } from './smtp-auth';
import { SmtpConnection, SmtpConnectionError, type SmtpTlsOptions } from './smtp-connection';
import { DEFAULT_SMTP_TIMEOUTS, type SmtpEndpoint, type SmtpTimeouts } from './smtp-endpoint';
import type { OnSmtpPhase, SmtpPhase } from './smtp-phase';
import type { SmtpReply } from './smtp-reply';

/** What the server offered in its last EHLO or LHLO reply. */
export interface SmtpExtensions {
  readonly pipelining: boolean;
  readonly eightBitMime: boolean;
  readonly smtpUtf8: boolean;
  readonly startTls: boolean;
  /** Octets; 0 when not offered or without a limit. */
  readonly sizeLimit: number;
  readonly size: boolean;
  readonly authMechanisms: readonly string[];
}

/** A connection ready for MAIL. */
export interface SmtpSession {
  readonly connection: SmtpConnection;
  readonly protocol: 'smtp' | 'lmtp';
  readonly extensions: SmtpExtensions;
  readonly timeouts: SmtpTimeouts;
  /** Transactions begun on it. */
  transactions: number;
  /** A transaction was left open: RSET before the next MAIL. */
  needsReset: boolean;
}

/** Why an attempt was ended that the server has kept waiting. */
export const GAVE_WAY = 'The server took its time while other mail had to wait';

/** No session came about: nothing was sent for any recipient. */
export class SmtpSessionError extends Error {
  override readonly name = 'SmtpSessionError';
  constructor(
    readonly phase: SmtpPhase,
    message: string,
    readonly reply?: SmtpReply,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/**
 * Connects and goes through greeting, EHLO (HELO where the server knows no other), STARTTLS and AUTH.
 * @throws InvalidError for a line break or NUL in the name or the credentials
 * @param giveWay ends the session while it comes about
 * @throws SmtpSessionError when the server cannot be reached or does not want the session
 */
export async function openSmtpSession(
  endpoint: SmtpEndpoint,
  onPhase: OnSmtpPhase,
  giveWay?: AbortSignal,
): Promise<SmtpSession> {
  assertCommandArgument(endpoint.localName, 'localName');
  try {
    return await establish(endpoint, onPhase, giveWay);
  } catch (error) {
    // RFC 7435 §1: some protection or none, but never no mail; a password is worth more than that.
    if (
      endpoint.credentials === undefined &&
      endpoint.tls === 'opportunistic' &&
      error instanceof SmtpSessionError &&
      error.phase === 'tls' &&
      giveWay?.aborted !== true
    ) {
      return establish({ ...endpoint, tls: 'none' }, onPhase, giveWay);
    }
    throw error;
  }
}

/** Says QUIT, waits for the reply as long as `timeouts.quit` allows, and closes. Never rejects. */
export async function closeSmtpSession(session: SmtpSession): Promise<void> {
  const { connection, timeouts } = session;
  if (connection.failure === null) {
    await connection.command('QUIT', timeouts.quit).catch(() => undefined);
  }
  connection.destroy();
}

async function establish(
  endpoint: SmtpEndpoint,
  onPhase: OnSmtpPhase,
  giveWay?: AbortSignal,
): Promise<SmtpSession> {
  const timeouts = { ...DEFAULT_SMTP_TIMEOUTS, ...endpoint.timeouts };
  const progress: { phase: SmtpPhase; connection: SmtpConnection | null } = {
    phase: 'connect',
    connection: null,
  };
  const enter = async (phase: SmtpPhase) => {
    progress.phase = phase;
    await onPhase(phase);
  };
  const endEarly = () => progress.connection?.destroy(GAVE_WAY);
  giveWay?.addEventListener('abort', endEarly);
  try {
    await enter('connect');
    const connection = await SmtpConnection.open({
      host: endpoint.host,
      port: endpoint.port,
      timeoutMs: timeouts.connect,
      ...(endpoint.localAddress === undefined ? {} : { localAddress: endpoint.localAddress }),
      ...(endpoint.tls === 'implicit' ? { implicitTls: tlsOptionsOf(endpoint) } : {}),
    });
    progress.connection = connection;
    if (giveWay?.aborted === true) endEarly();

    await enter('greeting');
    expect('greeting', await connection.readReply(timeouts.greeting), 220);

    await enter('ehlo');
    let extensions = await sayHello(connection, endpoint, timeouts);

    if (endpoint.tls === 'required' || (endpoint.tls === 'opportunistic' && extensions.startTls)) {
      await enter('tls');
      if (!extensions.startTls) throw new SmtpSessionError('tls', 'The server offers no STARTTLS');
      expect('tls', await connection.command('STARTTLS', timeouts.tls), 220);
      await connection.upgrade(tlsOptionsOf(endpoint), timeouts.tls);
      // RFC 3207 §4.2: what was offered in the clear does not count any more.
      extensions = await sayHello(connection, endpoint, timeouts);
    }

    if (endpoint.credentials !== undefined) {
      await enter('auth');
      if (!connection.secure && endpoint.allowPlaintextAuth !== true) {
        throw new SmtpSessionError('auth', 'Credentials are not sent without TLS');
      }
      const command = (line: string) => connection.command(line, timeouts.auth);
      const reply = await authenticate(command, extensions.authMechanisms, endpoint.credentials);
      if (reply === null) {
        throw new SmtpSessionError('auth', 'The server offers no way to authenticate that we know');
      }
      expect('auth', reply, 235);
    }
    const { protocol } = endpoint;
    return { connection, protocol, extensions, timeouts, transactions: 0, needsReset: false };
  } catch (error) {
    progress.connection?.destroy();
    if (!(error instanceof SmtpConnectionError)) throw error;
    const phase = error.kind === 'tls' ? 'tls' : progress.phase;
    throw new SmtpSessionError(phase, error.message, undefined, error);
  } finally {
    giveWay?.removeEventListener('abort', endEarly);
  }
}

function expect(phase: SmtpPhase, reply: SmtpReply, code: number): void {
  if (reply.code !== code) {
    throw new SmtpSessionError(phase, `${reply.code} ${reply.text}`.trim(), reply);
  }
}

async function sayHello(
  connection: SmtpConnection,
  endpoint: SmtpEndpoint,
  timeouts: SmtpTimeouts,
): Promise<SmtpExtensions> {
  const verb = endpoint.protocol === 'lmtp' ? 'LHLO' : 'EHLO';
  const reply = await connection.command(`${verb} ${endpoint.localName}`, timeouts.ehlo);
  if (reply.code === 250) return parseExtensions(reply.lines);
  // RFC 5321 §3.2: a server that does not know EHLO is greeted with HELO.
  if (verb === 'EHLO' && reply.code >= 500 && reply.code !== 521) {
    const fallback = await connection.command(`HELO ${endpoint.localName}`, timeouts.ehlo);
    expect('ehlo', fallback, 250);
    return parseExtensions([]);
  }
  expect('ehlo', reply, 250);
  return parseExtensions([]);
}

/** Reads the extension lines of an EHLO reply; the first line is the server's name. */
export function parseExtensions(lines: readonly string[]): SmtpExtensions {
  const offered = new Map<string, string>();
  for (const line of lines.slice(1)) {
    // "AUTH=LOGIN" is what servers of the nineties say.
    const match = /^([A-Za-z0-9-]+)(?:[ =](.*))?$/.exec(line.trim());
    if (match !== null) offered.set((match[1] ?? '').toUpperCase(), match[2] ?? '');
  }
  const sizeLimit = Number(offered.get('SIZE') ?? '');
  const mechanisms = (offered.get('AUTH') ?? '').toUpperCase().split(/\s+/);
  return {
    pipelining: offered.has('PIPELINING'),
    eightBitMime: offered.has('8BITMIME'),
    smtpUtf8: offered.has('SMTPUTF8'),
    startTls: offered.has('STARTTLS'),
    size: offered.has('SIZE'),
    sizeLimit: Number.isSafeInteger(sizeLimit) ? sizeLimit : 0,
    authMechanisms: mechanisms.filter((mechanism) => mechanism !== ''),
  };
}

function tlsOptionsOf(endpoint: SmtpEndpoint): SmtpTlsOptions {
  // Whoever gets a password has to prove who they are.
  const isStrict = endpoint.tls !== 'opportunistic' || endpoint.credentials !== undefined;
  const verify = isStrict && endpoint.verifyCertificate !== false;
  const ca = endpoint.ca === undefined ? {} : { ca: endpoint.ca };
  return { serverName: endpoint.serverName ?? endpoint.host, verifyCertificate: verify, ...ca };
}
