import { eventually } from '@dak/testing/waiting';
import { deliver } from '@dak/testing/smtp-sink';
import { compose } from './mail-load';
import type { RunningDak } from './running-dak';

/** What clients were promised: subjects of mail in and out, names of labels. */
export interface Acknowledged {
  received: string[];
  accepted: string[];
  labels: string[];
}

/** Mail in, mail out and changes from several clients at once, who remember what was acknowledged. */
export class AcknowledgedLoad {
  readonly #promised: Acknowledged = { received: [], accepted: [], labels: [] };
  readonly #lanes: Promise<void>[];
  #isRunning = true;

  constructor(
    private readonly dak: RunningDak,
    lanes: number,
  ) {
    this.#lanes = Array.from({ length: lanes }, (_, lane) => this.#run(lane));
  }

  /** Waits until there is much of each kind. @returns what was acknowledged by then */
  async untilMuch(): Promise<Acknowledged> {
    const { received, accepted, labels } = this.#promised;
    await eventually(
      () => `${received.length} in, ${accepted.length} out`,
      async () => received.length > 40 && accepted.length > 40,
      60_000,
    );
    return { received: [...received], accepted: [...accepted], labels: [...labels] };
  }

  /** Requests under way end first, also those that a dead Dak does not answer. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#lanes);
  }

  async #run(lane: number): Promise<void> {
    const { smtp, mailboxes } = this.dak.bootstrap;
    const [inbox, outbox] = mailboxes;
    for (let i = 0; this.#isRunning; i += 1) {
      const name = `${lane}-${i}`;
      const subject = await deliver(smtp.port, inbox!.address, `in-${name}`);
      if (subject !== null) this.#promised.received.push(subject);
      const sent = await compose(this.dak, outbox!.id, `out-${name}`);
      if (sent !== null) this.#promised.accepted.push(sent);
      const label = `label-${name}`;
      const made = await this.dak.api('POST', '/labels', { name: label }).catch(() => null);
      if (made?.status === 201) this.#promised.labels.push(label);
    }
  }
}

/** Of a restored Dak, which holds its outgoing mail. */
export async function releaseOutgoing(dak: RunningDak): Promise<void> {
  const { superadmin } = dak.bootstrap;
  const { body } = await dak.api('POST', '/auth/login', superadmin);
  const session = { authorization: `Bearer ${body.access_token}` };
  const state = await dak.api('GET', '/admin/operations', undefined, session);
  expect(state.body).toMatchObject({ outgoing: 'hold' });
  const released = await dak.api('PATCH', '/admin/operations', { outgoing: 'run' }, session);
  expect(released.status).toBe(200);
}
