import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PemPair } from '@dak/platform/tls-files';

export interface CertificateAuthority {
  /** PEM */
  readonly cert: string;
  /** For 127.0.0.1 and these names, as a server and as a client; valid for a day. */
  issue(...hostNames: string[]): PemPair;
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-sha256'];

/** An authority for tests, made and run with the program `openssl`. */
export function createCertificateAuthority(name = 'Test CA'): CertificateAuthority {
  const authority = inFolder((folder) => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    openssl(
      'req',
      '-x509',
      '-days',
      '1',
      '-subj',
      `/CN=${name}`,
      ...KEY,
      '-keyout',
      key,
      '-out',
      cert,
    );
    return read(key, cert);
  });
  return {
    cert: authority.cert,
    issue: (...hostNames) =>
      inFolder((folder) => {
        const path = (file: string): string => join(folder, file);
        writeFileSync(path('ca-key.pem'), authority.key);
        writeFileSync(path('ca.pem'), authority.cert);
        const names = ['IP:127.0.0.1', ...hostNames.map((host) => `DNS:${host}`)];
        writeFileSync(
          path('extensions'),
          `subjectAltName=${names.join(',')}\nextendedKeyUsage=serverAuth,clientAuth\n`,
        );
        const subject = ['-subj', `/CN=${hostNames[0] ?? '127.0.0.1'}`];
        openssl('req', ...subject, ...KEY, '-keyout', path('key.pem'), '-out', path('request.pem'));
        openssl(
          ...['x509', '-req', '-in', path('request.pem'), '-days', '1', '-sha256'],
          ...['-CA', path('ca.pem'), '-CAkey', path('ca-key.pem'), '-CAcreateserial'],
          ...['-extfile', path('extensions'), '-out', path('cert.pem')],
        );
        return read(path('key.pem'), path('cert.pem'));
      }),
  };
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function read(key: string, cert: string): PemPair {
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

function inFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'dak-ca-'));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
