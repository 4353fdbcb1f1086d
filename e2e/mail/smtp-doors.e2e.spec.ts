import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createSelfSignedCertificate, type PemPair } from '@dak/platform/tls-files';
import { openSmtpDialog, type SmtpDialog } from '@dak/testing/smtp-sink';
import { eventually } from '@dak/testing/waiting';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { openSession, sendMail, transact } from '../stack/sending-mail';
import type { Stack } from '../stack/stack';
import { createTenant, type Tenant } from '../stack/tenant';

const PER_CLIENT = 20;

describeOnBothRuns('the SMTP door', (start) => {
  let stack: Stack;
  let tenant: Tenant;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dak-doors-'));
    install('v1', createSelfSignedCertificate('one.dak.example'));
    symlinkSync('v1', join(folder, 'now'));
    stack = await start({
      connectionsPerClient: PER_CLIENT,
      smtpTls: { cert: join(folder, 'now/tls.crt'), key: join(folder, 'now/tls.key') },
    });
    tenant = await createTenant(stack, 'doors');
  }, 120_000);
  afterAll(async () => {
    await stack?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const install = (version: string, pair: PemPair) => {
    mkdirSync(join(folder, version), { recursive: true });
    writeFileSync(join(folder, version, 'tls.crt'), pair.cert);
    writeFileSync(join(folder, version, 'tls.key'), pair.key);
  };
  const turnLink = (version: string) => {
    symlinkSync(version, join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'now'));
  };
  const mail = (subject: string) => ({
    to: [tenant.open.address],
    raw: `From: ada@elsewhere.example\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@elsewhere.example>\r\n\r\nhello\r\n`,
  });

  it('turns away all but a few sessions of one client, and takes mail of others meanwhile', async () => {
    const idle = Array.from({ length: 1005 }, () => openSmtpDialog(stack.smtpPort, '127.0.0.9'));
    try {
      const said = await Promise.all(idle.map((dialog) => dialog.until(/\r\n/)));
      const greeted = said.filter((line) => line.startsWith('220 '));
      const refused = said.filter((line) => line.startsWith('421 4.7.0 '));
      expect(greeted).toHaveLength(PER_CLIENT);
      expect(refused).toHaveLength(1005 - PER_CLIENT);
      expect(await sendMail(stack.smtpPort, { ...mail('others'), client: '127.0.0.10' })).toMatch(
        /^250 /,
      );
      const ended = await Promise.all(
        idle.filter((_, index) => said[index]!.startsWith('421')).map((dialog) => dialog.end()),
      );
      expect(ended).toHaveLength(1005 - PER_CLIENT);
    } finally {
      for (const dialog of idle) dialog.socket.destroy();
    }
    await eventually('room for the client again', async () => {
      const again = openSmtpDialog(stack.smtpPort, '127.0.0.9');
      const line = await again.until(/\r\n/);
      again.socket.destroy();
      return line.startsWith('220 ');
    });
  }, 60_000);

  it('cuts a client that says its first words letter by letter', async () => {
    const slow = openSmtpDialog(stack.smtpPort, '127.0.0.11');
    await slow.replies(1);
    const began = performance.now();
    const timer = setInterval(() => slow.socket.write('E'), 250);
    try {
      expect(await slow.end()).toMatch(/^421 4\.4\.2 /);
    } finally {
      clearInterval(timer);
    }
    expect(performance.now() - began).toBeLessThan(40_000);
  }, 60_000);

  it('offers STARTTLS with the given certificate and takes up a new one when it changes', async () => {
    const first = await secured(stack.smtpPort);
    expect(first.name).toBe('one.dak.example');
    expect(await transact(first.dialog, mail('encrypted'))).toMatch(/^250 /);
    install('v2', { ...createSelfSignedCertificate(), key: 'not a key' });
    turnLink('v2');
    expect((await secured(stack.smtpPort)).name).toBe('one.dak.example');
    install('v3', createSelfSignedCertificate('three.dak.example'));
    turnLink('v3');
    await eventually('the new certificate', async () => {
      const { name, dialog } = await secured(stack.smtpPort);
      dialog.socket.destroy();
      return name === 'three.dak.example';
    });
    expect(await transact(first.dialog, mail('still the old session'))).toMatch(/^250 /);
    first.dialog.socket.destroy();
    const raw = await eventually('the mail', async () => {
      const found = await tenant.client.get(
        `/conversations?mailbox=${tenant.open.id}&q=encrypted&status=all`,
      );
      const conversation = found.body.data[0];
      if (conversation === undefined) return null;
      const path = `/conversations/${conversation.id}/messages`;
      const { body } = await tenant.client.get(path);
      return (await tenant.client.get(`${path}/${body.data[0].id}/raw`)).body as string;
    });
    expect(raw).toMatch(/by \S+ with ESMTPS id .*\r?\n\t\(TLSv1\.[23] /);
  }, 60_000);

  it('forgets what was said before TLS, and refuses TLS 1.1', async () => {
    const dialog = await openSession(stack.smtpPort, '127.0.0.12');
    await dialog.say('MAIL FROM:<before@elsewhere.example>\r\n');
    expect(
      await dialog.say(
        `STARTTLS\r\nEHLO injected.example\r\nMAIL FROM:<injected@elsewhere.example>\r\n`,
      ),
    ).toMatch(/^220 /);
    const inside = dialog.secure();
    expect(await inside.say('MAIL FROM:<x@elsewhere.example>\r\n')).toMatch(/^503 /);
    expect(await inside.say('EHLO client.example\r\n')).not.toMatch(/STARTTLS/);
    expect(await inside.say(`RCPT TO:<${tenant.open.address}>\r\n`)).toMatch(/^503 /);
    inside.socket.destroy();
    const old = await openSession(stack.smtpPort, '127.0.0.13');
    await old.say('STARTTLS\r\n');
    const failure = await new Promise<string>((resolve) => {
      const socket = connectTls({
        socket: old.socket,
        rejectUnauthorized: false,
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1.1',
        ciphers: 'DEFAULT@SECLEVEL=0',
      });
      socket.once('secureConnect', () => resolve('connected'));
      socket.once('error', (error) => resolve(error.message));
      socket.once('close', () => resolve('closed'));
    });
    expect(failure).not.toBe('connected');
  });
});

async function secured(port: number): Promise<{ name: string; dialog: SmtpDialog }> {
  const dialog = await openSession(port, '127.0.0.14');
  expect(await dialog.say('STARTTLS\r\n')).toMatch(/^220 /);
  const inside = dialog.secure();
  await inside.say('EHLO client.example\r\n');
  const { subject } = (inside.socket as TLSSocket).getPeerCertificate();
  return { name: String(subject.CN), dialog: inside };
}
