import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newApiKey } from '@dak/kernel';
import {
  AttackingClient,
  deepBody,
  keepAtIt,
  largeBody,
  mailOf,
  strangeAddress,
  throwMail,
  trickle,
  wideBody,
  type EndAttack,
} from './attack-load';
import type { RunningDak } from '../stack/running-dak';

export interface AttackedTenant {
  key: string;
  mailboxId: string;
  address: string;
}

interface Attack {
  name: string;
  /** What the attacker has made before; takes as long as it does. */
  prepare?: () => Promise<unknown>;
  start: () => EndAttack;
  cleanUp?: () => Promise<unknown>;
  /** The user may notice it, and gets answers all the same. @default false */
  isNoticed?: boolean;
}

/** What attacks need; the attacker is an organization of its own. */
interface Target {
  bootstrap: RunningDak['bootstrap'];
  attacker: AttackedTenant;
  /** A request of the attacker. */
  own(method: string, path: string, body?: unknown): ReturnType<RunningDak['api']>;
  /** A mail to the attacker's mailbox. */
  throwAt(content: Buffer, client?: string): Promise<string>;
}

/** @param target asked when an attack begins */
export function attacksOn(target: () => Target): Attack[] {
  const clients = (count: number) =>
    Array.from({ length: count }, () => new AttackingClient(target().bootstrap.base_url));
  const smtp = () => target().bootstrap.smtp.port;

  return [
    { name: 'of wrong logins from many addresses', start: wrongLogins },
    { name: 'of wrong keys', start: wrongKeys },
    { name: 'of clients that send octet by octet', start: slowClients },
    { name: 'of SMTP sessions that come and go', start: restlessSessions },
    { name: 'of searches', start: searches },
    {
      name: 'of rules with catastrophic patterns',
      prepare: () => makeRules((index) => `(?:a?){${100 + index}}b{2}`),
      start: longMails,
      cleanUp: removeRules,
    },
    {
      name: 'of rules with many literal patterns',
      prepare: () => makeRules((index) => `word${index} of this rule`),
      start: longMails,
      cleanUp: removeRules,
    },
    { name: 'of mail to destinations that hang', start: mailToTarpits },
    { name: 'of webhooks that hang', start: hangingWebhooks },
    { name: 'of mail with deep and many parts', start: mimeBombs },
    // Commits wait for the disk, which has to take 40 MB of them in a second, and their files once more.
    { name: 'of mails of 19 MB in parallel', start: largeMails, isNoticed: true },
  ];

  function wrongLogins(): EndAttack {
    const many = clients(400);
    return keepAtIt(20, 32, (turn) =>
      many[turn % many.length]!.ask('POST', '/auth/login', {
        body: { email: `nobody-${turn}@user.example`, password: 'wrong' },
      }),
    );
  }

  function wrongKeys(): EndAttack {
    const many = clients(16);
    return keepAtIt(200, 32, (turn) =>
      many[turn % many.length]!.ask('GET', '/conversations', { key: newApiKey() }),
    );
  }

  function slowClients(): EndAttack {
    const http = Number(new URL(target().bootstrap.base_url).port);
    const ends = [
      trickle(http, 500, 'POST /api/v1/auth/login HTTP/1.1\r\nX-'),
      trickle(smtp(), 300, 'EHLO x'),
    ];
    return async () => {
      for (const end of ends) await end();
    };
  }

  function restlessSessions(): EndAttack {
    return keepAtIt(100, 200, () =>
      throwMail(smtp(), {
        to: 'nobody@user.example',
        content: Buffer.alloc(0),
        client: strangeAddress(),
      }),
    );
  }

  function searches(): EndAttack {
    const [client] = clients(1);
    return keepAtIt(100, 16, (turn) =>
      client!.ask('POST', '/search', {
        key: target().attacker.key,
        body: { query: `flood wor* "words some" -absent${turn % 10}` },
      }),
    );
  }

  async function makeRules(pattern: (index: number) => string): Promise<void> {
    for (let index = 0; index < 190; index += 1) {
      const { status } = await target().own('POST', '/rules', {
        name: `costly ${index}`,
        kind: 'labeling',
        conditions: [{ field: 'body', operator: 'matches', value: pattern(index) }],
        actions: [{ type: 'add_labels', labels: ['costly'] }],
      });
      expect(status).toBe(201);
    }
  }

  async function removeRules(): Promise<void> {
    for (;;) {
      const { body } = await target().own('GET', '/rules?per_page=100');
      if (body.data.length === 0) return;
      for (const { id } of body.data) await target().own('DELETE', `/rules/${id}`);
    }
  }

  /** Ten mails of 60 kB, as fast as they are taken. */
  function longMails(): EndAttack {
    const text = `${'a'.repeat(70)}\r\n`.repeat(850);
    const sent = Promise.all(Array.from({ length: 10 }, () => target().throwAt(mailOf(text))));
    return async () => void (await sent);
  }

  function mailToTarpits(): EndAttack {
    const [client] = clients(1);
    return keepAtIt(100, 16, async (turn) => {
      if (turn > 200) return;
      await client!.ask('POST', '/compose/send', {
        key: target().attacker.key,
        body: {
          mailbox_id: target().attacker.mailboxId,
          to: [`${turn}@tarpit.example`],
          subject: 'Please wait',
          body_text: 'hello',
          undo_seconds: 0,
        },
      });
    });
  }

  function hangingWebhooks(): EndAttack {
    const server = createServer((incoming) => incoming.resume());
    const ids = (async () => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hang`;
      const made: string[] = [];
      for (let i = 0; i < 6; i += 1) {
        made.push((await target().own('POST', '/webhooks', { url, timeout_ms: 30_000 })).body.id);
      }
      return made;
    })();
    const [client] = clients(1);
    const end = keepAtIt(100, 16, async (turn) => {
      if (turn > 300) return;
      const path = `/webhooks/${(await ids)[turn % 6]}/test`;
      await client!.ask('POST', path, { key: target().attacker.key, body: {} });
    });
    return async () => {
      await end();
      for (const id of await ids) await target().own('DELETE', `/webhooks/${id}`);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
  }

  function mimeBombs(): EndAttack {
    const bodies = [deepBody(3_000), wideBody(50_000)];
    return keepAtIt(4, 4, (turn) => {
      const { body, type } = bodies[turn % 2]!;
      return target().throwAt(mailOf(body, type), '127.66.255.1');
    });
  }

  function largeMails(): EndAttack {
    const body = largeBody(19_000_000);
    return keepAtIt(2, 4, () => target().throwAt(mailOf(body, 'application/octet-stream')));
  }
}
