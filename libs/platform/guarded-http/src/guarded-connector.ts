import { promises, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isLocalName, namesHost, type Allowance, type Target } from './allowance';
import { BlockedAddressError, ResolutionError } from './attempt-outcome';
import { refusalOfAddress } from './judge-url';

/** All addresses of a name; rejects when there are none. */
export type Resolve = (host: string) => Promise<LookupAddress[]>;

export interface ConnectorOptions {
  target: Target;
  allowance: Allowance;
  resolve: Resolve;
  /** Milliseconds for DNS, TCP and TLS together. */
  connectTimeoutMs: number;
  /** PEM of the certificate authorities to trust instead of the usual ones. */
  ca?: string;
}

/**
 * Connects only to addresses that the guard lets through: a literal is judged before the resolver
 * could be skipped for it, of a public name every answer must pass (or the second of two could be taken
 * after the first fails), and the address connected to is judged once more.
 */
export function guardedConnector(options: ConnectorOptions): buildConnector.connector {
  const { target, allowance } = options;
  const refuse = (address: string): BlockedAddressError | null => {
    const reason = refusalOfAddress(target, address, allowance);
    return reason === null ? null : new BlockedAddressError(reason);
  };
  const connect = buildConnector({
    allowH2: false,
    timeout: options.connectTimeoutMs,
    lookup: guardedLookup(options.resolve, refuse),
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no say.
    rejectUnauthorized: true,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  return (connection, callback) => {
    const literal = isIP(connection.hostname) === 0 ? null : refuse(connection.hostname);
    if (literal !== null) {
      callback(literal, null);
      return;
    }
    connect(connection, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      const refusal = refuse(socket.remoteAddress ?? '');
      if (refusal === null) {
        callback(null, socket);
        return;
      }
      socket.destroy();
      callback(refusal, null);
    });
  };
}

function guardedLookup(
  resolve: Resolve,
  refuse: (address: string) => BlockedAddressError | null,
): LookupFunction {
  return (host, { all }, callback) => {
    resolve(host).then(
      (found) => {
        // The machine itself answers for local names: ::1 beside an allowed 127.0.0.1 is no attack.
        const allowed = isLocalName(host)
          ? found.filter(({ address }) => refuse(address) === null)
          : [];
        const answers = allowed.length > 0 ? allowed : found;
        const refusal = answers.map(({ address }) => refuse(address)).find((one) => one !== null);
        const [first] = answers;
        if (refusal !== undefined || first === undefined) {
          callback(refusal ?? new ResolutionError(`${host} has no address`), []);
        } else if (all === true) callback(null, answers);
        else callback(null, first.address, first.family);
      },
      (cause: unknown) => {
        callback(new ResolutionError(`${host} does not resolve`, { cause }), []);
      },
    );
  };
}

const DNS_TIMEOUT_MS = 2_000;

/**
 * Asks name servers without taking up the threads of the process: a hostile domain with a slow name
 * server would hold them, and with them every file and every other look-up. Names without a dot and
 * names that the operator allowed also come from the hosts file and search domains, which only the
 * system's resolver knows.
 * @param nameServers `address:port` each; those of the system if absent
 */
export function createResolver(allowance: Allowance, nameServers?: readonly string[]): Resolve {
  const resolver = new promises.Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  return async (host) => {
    const name = host.replace(/\.$/, '');
    if (isLocalName(name) || namesHost(allowance, name)) {
      return promises.lookup(host, { all: true });
    }
    const [four, six] = await Promise.allSettled([
      resolver.resolve4(host),
      resolver.resolve6(host),
    ]);
    const answers = [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (answers.length === 0 && four.status === 'rejected') throw four.reason;
    return answers;
  };
}
