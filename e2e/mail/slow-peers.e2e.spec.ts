import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { silence, startSmtpSink, type SmtpSink } from '@dak/testing/smtp-sink';
import { eventually } from '@dak/testing/waiting';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { createSender, type Sender } from '../stack/outgoing-mail';
import type { Stack } from '../stack/stack';

/** Others wait seconds for the places that slow peers have taken, not the minutes that these take. */
const SOON_MS = 8_000;

describeOnBothRuns('peers of one organization that take their time', (startStack) => {
  let sink: SmtpSink;
  let stack: Stack;
  let slow: Sender;
  let quick: Sender;

  beforeAll(async () => {
    sink = await startSmtpSink();
    sink.setScript(({ phase, recipient }) =>
      phase === 'rcpt' && recipient?.endsWith('@tarpit.example') === true ? silence() : undefined,
    );
    stack = await startStack({ transport: `smtp://127.0.0.1:${sink.port}` });
    slow = await createSender(stack, 'slow');
    quick = await createSender(stack, 'quick');
  }, 120_000);
  afterAll(async () => {
    // First, so that nothing waits for an answer any more.
    await sink.stop();
    await stack.close();
  }, 60_000);

  it('do not hold up the mail of another', async () => {
    const mails = Array.from({ length: 120 }, (_, number) => `${number}@tarpit.example`);
    await Promise.all(mails.map((to) => slow.send(to)));
    await eventually('the tarpit took no mail', () =>
      Promise.resolve(sink.events.filter(({ phase }) => phase === 'rcpt').length >= 16),
    );
    for (let round = 0; round < 3; round += 1) {
      const to = `round-${round}@elsewhere.example`;
      await quick.send(to);
      await eventually(
        `mail to ${to} waited for the tarpit`,
        () => Promise.resolve(sink.messages.some(({ recipients }) => recipients.includes(to))),
        SOON_MS,
      );
    }
    expect(sink.messages.flatMap(({ recipients }) => recipients)).toHaveLength(3);
  }, 60_000);

  describe('as receivers of webhooks', () => {
    let server: Server;
    const requests: string[] = [];
    const url = (path: string) =>
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`;

    beforeAll(async () => {
      server = createServer((request, response) => {
        requests.push(request.url!);
        request.resume();
        if (request.url === '/quick') response.writeHead(204).end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    afterAll(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });

    it('do not hold up another at the same host', async () => {
      const subscribe = async ({ client }: Sender, path: string): Promise<string> => {
        const { status, body } = await client.post('/webhooks', {
          url: url(path),
          timeout_ms: 30_000,
        });
        expect(status).toBe(201);
        return body.id as string;
      };
      const test = ({ client }: Sender, id: string) => client.post(`/webhooks/${id}/test`, {});
      // Each sends 32 at once.
      const hanging: string[] = [];
      for (let number = 0; number < 6; number += 1) hanging.push(await subscribe(slow, 'hanging'));
      const answering = await subscribe(quick, 'quick');
      await Promise.all(hanging.flatMap((id) => Array.from({ length: 32 }, () => test(slow, id))));
      await eventually(
        () => `the hanging receivers were called ${requests.length} times`,
        () => Promise.resolve(requests.length >= 128),
      );
      await test(quick, answering);
      await eventually(
        'a webhook waited for receivers of another organization',
        () => Promise.resolve(requests.includes('/quick')),
        SOON_MS,
      );
    }, 120_000);
  });
});
