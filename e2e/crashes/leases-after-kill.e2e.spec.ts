import { eventually } from '@dak/testing/waiting';
import { deliver } from '@dak/testing/smtp-sink';
import { removeDataDir, startDak, temporaryDataDir, type RunningDak } from '../stack/running-dak';
import { startWebhookSink, type WebhookSink } from '../stack/webhook-sink';

/** A lease of the killed process would hold its events back for 10 s. */
const WITHIN_MS = 3_000;

describe('after kill -9 of the one process', () => {
  const dataDir = temporaryDataDir();
  let hooks: WebhookSink;
  let dak: RunningDak | undefined;

  beforeAll(async () => {
    hooks = await startWebhookSink();
  });
  afterAll(async () => {
    await dak?.stop();
    await hooks.close();
    removeDataDir(dataDir);
  });

  it('rules and webhooks go on with new mail as soon as Dak is ready again', async () => {
    const start = () => startDak(dataDir, { DAK_WEBHOOK_ALLOW: '127.0.0.1' });
    dak = await start();
    const [inbox] = dak.bootstrap.mailboxes;
    const event_types = ['mail.received', 'rule.matched'];
    await dak.api('POST', '/webhooks', { url: hooks.url, event_types });
    await dak.api('POST', '/rules', {
      name: 'Everything',
      kind: 'labeling',
      mailbox_ids: [inbox!.id],
      conditions: [],
      actions: [{ type: 'add_labels', labels: ['met'] }],
    });
    const told = (subject: string) => async () => {
      const isOfMail = hooks.requests.some(
        ({ event }) => event.type === 'mail.received' && event.data['subject'] === subject,
      );
      const rules = hooks.requests.filter(({ event }) => event.type === 'rule.matched').length;
      return isOfMail && rules >= Number(subject.slice('mail-'.length)) ? true : null;
    };
    expect(await deliver(dak.bootstrap.smtp.port, inbox!.address, 'mail-1')).toBe('mail-1');
    await eventually('the first mail is told', told('mail-1'));
    for (const subject of ['mail-2', 'mail-3']) {
      await dak.kill();
      dak = await start();
      const ready = performance.now();
      expect(await deliver(dak.bootstrap.smtp.port, inbox!.address, subject)).toBe(subject);
      await eventually('mail after the kill is told', told(subject), 30_000);
      const took = Math.round(performance.now() - ready);
      process.stdout.write(`${subject}: told by rule and webhook ${took} ms after readiness\n`);
      expect(took).toBeLessThan(WITHIN_MS);
    }
  }, 180_000);
});
