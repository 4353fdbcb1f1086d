import { connect } from 'node:http2';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificateAuthority, type CertificateAuthority } from '@dak/testing/certificates';
import { eventually } from '@dak/testing/waiting';
import { GrpcChannel, GrpcTls, openGrpcTls, PrincipalSigner, createClient } from '../src/index';
import { EchoService, principal, privateKey, startEchoServer } from './echo-service';

const POLL_MS = 50;

describe('gRPC between services with certificates', () => {
  const authority = createCertificateAuthority();
  const folder = mkdtempSync(join(tmpdir(), 'dak-grpc-tls-'));
  const undo: (() => unknown)[] = [];
  const said: string[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
    said.length = 0;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  interface Written {
    tls: GrpcTls;
    replace(authority: CertificateAuthority, ...names: string[]): void;
  }
  let written = 0;
  /** A process with its own certificate for these names. */
  function certified(signer: CertificateAuthority, trusted: string, ...names: string[]): Written {
    written += 1;
    const path = (what: string): string => join(folder, `${written}-${what}.pem`);
    const paths = { cert: path('cert'), key: path('key'), ca: path('ca') };
    const replace = (by: CertificateAuthority, ...hosts: string[]): void => {
      const { cert, key } = by.issue(...hosts);
      for (const [file, text] of [
        [paths.cert, cert],
        [paths.key, key],
      ] as const) {
        writeFileSync(`${file}.new`, text);
        renameSync(`${file}.new`, file);
      }
    };
    writeFileSync(paths.ca, trusted);
    replace(signer, ...names);
    const say = (_: object, message: string): void => void said.push(message);
    const tls = new GrpcTls({ paths, log: { info: say, error: say }, pollMs: POLL_MS });
    undo.push(() => tls.stop());
    return { tls, replace };
  }

  async function serve(tls: GrpcTls): Promise<number> {
    const server = await startEchoServer(undefined, 0, tls);
    undo.push(() => server.close(0));
    return server.port;
  }

  async function call(address: string, tls: GrpcTls | null): Promise<string> {
    const channel = new GrpcChannel(address, new PrincipalSigner(privateKey, 'echo'), tls);
    try {
      const { text } = await createClient(EchoService, channel).echo(
        { text: 'hello' },
        { principal, requestId: 'r', deadline: Date.now() + 3_000 },
      );
      return text;
    } finally {
      await channel.close();
    }
  }

  it('goes through by name and by number, to each of several replicas', async () => {
    const port = await serve(certified(authority, authority.cert, 'localhost').tls);
    const { tls } = certified(authority, authority.cert, 'gateway');
    expect(await call(`localhost:${port}`, tls)).toBe('hello');
    expect(await call(`127.0.0.1:${port}`, tls)).toBe('hello');
    expect(await call(`localhost:${port},127.0.0.1:${port}`, tls)).toBe('hello');
  });

  it('refuses a caller without a certificate, with one of strangers, and one that speaks plainly', async () => {
    const port = await serve(certified(authority, authority.cert, 'localhost').tls);
    const strangers = createCertificateAuthority('Strangers');
    const { tls: stranger } = certified(strangers, authority.cert, 'gateway');
    await expect(call(`localhost:${port}`, stranger)).rejects.toMatchObject({
      kind: 'unavailable',
    });
    await expect(call(`localhost:${port}`, null)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(tlsCallWithoutCertificate(port, authority.cert)).rejects.toThrow();
  });

  it('does not talk to a server of strangers, nor to one of another name', async () => {
    const { tls } = certified(authority, authority.cert, 'gateway');
    const strangers = createCertificateAuthority('Strangers');
    const strange = await serve(certified(strangers, authority.cert, 'localhost').tls);
    await expect(call(`localhost:${strange}`, tls)).rejects.toMatchObject({ kind: 'unavailable' });
    const misnamed = await serve(certified(authority, authority.cert, 'mail.example').tls);
    await expect(call(`localhost:${misnamed}`, tls)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('takes a new certificate without a restart, and keeps the old one when the new one is broken', async () => {
    const other = createCertificateAuthority('The next');
    const both = authority.cert + other.cert;
    const server = certified(authority, authority.cert + other.cert, 'localhost');
    const port = await serve(server.tls);
    const { tls: trusting } = certified(authority, both, 'gateway');
    const { tls: newOnly } = certified(other, other.cert, 'gateway');
    await expect(call(`localhost:${port}`, newOnly)).rejects.toMatchObject({ kind: 'unavailable' });
    server.replace(other, 'localhost');
    await eventually(() => said.includes('the certificate between services was read again'));
    expect(await call(`localhost:${port}`, newOnly)).toBe('hello');
    expect(await call(`localhost:${port}`, trusting)).toBe('hello');

    server.replace({ ...other, issue: () => ({ cert: 'broken', key: 'broken' }) }, 'localhost');
    await eventually(() =>
      said.includes('the new certificate between services is not usable, the old one stays'),
    );
    expect(await call(`localhost:${port}`, newOnly)).toBe('hello');
  });

  it('asks for all three files or none, and for ones that can be read', () => {
    const log = { info: () => undefined, error: () => undefined };
    const names = { DAK_GRPC_TLS_CERT: 'a', DAK_GRPC_TLS_KEY: 'b', DAK_GRPC_TLS_CA: 'c' };
    const none = {
      DAK_GRPC_TLS_CERT: undefined,
      DAK_GRPC_TLS_KEY: undefined,
      DAK_GRPC_TLS_CA: undefined,
    };
    expect(openGrpcTls(none, log)).toBeNull();
    expect(() => openGrpcTls({ ...names, DAK_GRPC_TLS_CA: undefined }, log)).toThrow(
      'belong together',
    );
    expect(() => openGrpcTls(names, log)).toThrow('cannot be used');
  });
});

/** HTTP/2 over TLS with a server that is trusted, but nothing to show. */
function tlsCallWithoutCertificate(port: number, ca: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const session = connect(`https://localhost:${port}`, { ca });
    session.on('error', reject);
    const request = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
    });
    request.on('error', reject);
    request.on('response', () => resolve());
    request.on('close', () => session.destroy());
    request.end(Buffer.alloc(5));
  });
}
