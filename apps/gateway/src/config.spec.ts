import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newFirstRunSecrets } from '@dak/platform/deployment';
import { readFirstRunFile, readGatewayConfig, readSigningKey } from './config';

describe('the configuration of a gateway of its own', () => {
  it('names everything that is missing at once', () => {
    expect(() => readGatewayConfig({ DAK_SECRET: 'x'.repeat(32) })).toThrow(
      /DAK_GATEWAY_DATABASE_URL is missing .*DAK_LOG_DATABASE_URL is missing .*DAK_REDIS_URL is missing .*DAK_PRINCIPAL_KEY_FILE is missing/,
    );
  });

  it('takes the secrets of the first start from a file, whole or not at all', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'dak-gateway-')), 'first-run.json');
    const secrets = newFirstRunSecrets();
    writeFileSync(file, JSON.stringify(secrets));
    expect(readFirstRunFile(file)).toEqual(secrets);
    for (const broken of ['', '{}', JSON.stringify({ ...secrets, apiKey: 'svc_live_typo' })]) {
      writeFileSync(file, broken);
      expect(() => readFirstRunFile(file)).toThrow('DAK_FIRST_RUN_FILE must name');
    }
  });

  it('takes an Ed25519 key and no other', () => {
    const folder = mkdtempSync(join(tmpdir(), 'dak-gateway-'));
    const write = (name: string, key: { export(options: object): string | Buffer }) => {
      const file = join(folder, name);
      writeFileSync(file, key.export({ type: 'pkcs8', format: 'pem' }));
      return file;
    };
    const ed25519 = write('good.pem', generateKeyPairSync('ed25519').privateKey);
    expect(readSigningKey(ed25519).asymmetricKeyType).toBe('ed25519');
    const rsa = write('rsa.pem', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
    for (const file of [rsa, join(folder, 'absent.pem')]) {
      expect(() => readSigningKey(file)).toThrow('must name a readable private Ed25519 key');
    }
  });
});
