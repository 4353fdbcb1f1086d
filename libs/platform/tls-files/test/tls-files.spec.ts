import { mkdtempSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@dak/testing/waiting';
import { createSelfSignedCertificate, pemPaths, watchTlsFiles, type PemPair } from '../src';
import type { TlsFiles } from '../src';

let folder: string;
let files: TlsFiles | undefined;
let changes: PemPair[];
let logged: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dak-tls-files-'));
  changes = [];
  logged = [];
});
afterEach(() => {
  files?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const paths = () => ({ cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') });
const write = (pair: PemPair) => {
  writeFileSync(paths().cert, pair.cert);
  writeFileSync(paths().key, pair.key);
};
const watch = () =>
  (files = watchTlsFiles({
    paths: paths(),
    pollMs: 10,
    onChange: (pair) => changes.push(pair),
    log: {
      info: (_, message) => logged.push(message),
      error: (_, message) => logged.push(message),
    },
  }));

describe('TLS files', () => {
  it('are read again when they are written in place', async () => {
    write(createSelfSignedCertificate('one.example'));
    watch();
    const next = createSelfSignedCertificate('two.example');
    write(next);
    await eventually(() => changes.length > 0);
    expect(changes.at(-1)).toEqual(next);
    expect(files?.pair).toEqual(next);
  });

  it('are read again when a symbolic link of the folder is turned, as Kubernetes does', async () => {
    const versions = [
      createSelfSignedCertificate('one.example'),
      createSelfSignedCertificate('two.example'),
    ];
    for (const [index, pair] of versions.entries()) {
      mkdirSync(join(folder, `v${index}`));
      writeFileSync(join(folder, `v${index}`, 'tls.crt'), pair.cert);
      writeFileSync(join(folder, `v${index}`, 'tls.key'), pair.key);
    }
    symlinkSync('v0', join(folder, 'data'));
    symlinkSync('data/tls.crt', paths().cert);
    symlinkSync('data/tls.key', paths().key);
    watch();
    symlinkSync('v1', join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'data'));
    await eventually(() => changes.length > 0);
    expect(files?.pair).toEqual(versions[1]);
  });

  it('keep the old pair while the new one is broken or half written, and say so once', async () => {
    const old = createSelfSignedCertificate();
    write(old);
    watch();
    const next = createSelfSignedCertificate();
    writeFileSync(paths().cert, next.cert);
    await eventually(() => logged.length > 0);
    expect(logged).toEqual(['the new TLS certificate is not usable, the old one stays']);
    expect(files?.pair).toEqual(old);
    writeFileSync(paths().key, next.key);
    await eventually(() => changes.length > 0);
    expect(files?.pair).toEqual(next);
    rmSync(paths().cert);
    await eventually(() => logged.length > 2);
    expect(logged.at(-1)).toBe('TLS certificate not readable, the old one stays');
    expect(files?.pair).toEqual(next);
  });

  it('stop the start when they cannot be used', () => {
    expect(watch).toThrow(/^The TLS certificate .*tls\.crt with the key .* cannot be used: /);
    write({ ...createSelfSignedCertificate(), key: createSelfSignedCertificate().key });
    expect(watch).toThrow(/cannot be used: /);
    expect(() => pemPaths('DAK_SMTP_TLS', 'a', undefined)).toThrow(
      'DAK_SMTP_TLS_CERT and DAK_SMTP_TLS_KEY belong together: set both or neither.',
    );
    expect(pemPaths('DAK_SMTP_TLS', undefined, undefined)).toBeNull();
  });
});
