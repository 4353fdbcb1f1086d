import type { SmtpSink } from '@dak/testing/smtp-sink';
import { eventually, timePasses } from '@dak/testing/waiting';
import { deliver } from '@dak/testing/smtp-sink';
import { arrivedAt, subjectsIn } from '../stack/mail-load';
import { type RunningDak } from '../stack/running-dak';

/** What a client got for one request. */
interface Answer {
  what: 'compose' | 'list';
  /** 0 = no answer: the connection broke. */
  status: number;
  retryAfter: string | null;
  ms: number;
}

/** Between two mails in, two mails out and two lists. */
const EVERY_MS = 40;
/** A client waits at most so long. */
const PATIENCE_MS = 25_000;
/** An answer comes within this, whatever is away. */
const ANSWERED_WITHIN_MS = 10_000;
/** From the end of a fault until everything works again. */
export const RECOVERED_WITHIN_MS = 15_000;

/** Mail in and out and reads, as clients that remember what they were promised. */
export class FaultLoad {
  readonly answers: Answer[] = [];
  readonly promisedIn: string[] = [];
  readonly promisedOut: string[] = [];
  #count = 0;
  #isRunning = true;
  readonly #underWay = new Set<Promise<void>>();
  readonly #running: Promise<void>;

  constructor(
    private readonly dak: RunningDak,
    private readonly sink: SmtpSink,
    private readonly name: string,
  ) {
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    while (this.#isRunning) {
      this.#count += 1;
      const n = this.#count;
      this.#start(this.#in(`in-${this.name}-${n}`));
      this.#start(this.#out(`out-${this.name}-${n}`));
      this.#start(this.#list());
      await timePasses(EVERY_MS);
    }
  }

  #start(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  async #in(subject: string): Promise<void> {
    const { smtp, mailboxes } = this.dak.bootstrap;
    const done = await deliver(smtp.port, mailboxes[0]!.address, subject);
    if (done !== null) this.promisedIn.push(done);
  }

  async #out(subject: string): Promise<void> {
    const answer = await this.#ask('compose', 'POST', '/compose/send', subject, {
      mailbox_id: this.dak.bootstrap.mailboxes[1]!.id,
      to: ['someone@elsewhere.example'],
      subject,
      body_text: 'hello',
    });
    if (answer.status === 201) this.promisedOut.push(subject);
  }

  async #list(): Promise<void> {
    await this.#ask('list', 'GET', '/conversations', null, undefined);
  }

  async #ask(
    what: Answer['what'],
    method: string,
    path: string,
    key: string | null,
    body: unknown,
  ): Promise<Answer> {
    const { base_url, api_key } = this.dak.bootstrap;
    const begun = performance.now();
    const answer: Answer = { what, status: 0, retryAfter: null, ms: 0 };
    try {
      const response = await fetch(base_url + path, {
        method,
        signal: AbortSignal.timeout(PATIENCE_MS),
        headers: {
          authorization: `Bearer ${api_key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(key === null ? {} : { 'idempotency-key': key }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      answer.status = response.status;
      answer.retryAfter = response.headers.get('retry-after');
      await response.arrayBuffer();
    } catch {
      answer.status = 0;
    }
    answer.ms = performance.now() - begun;
    this.answers.push(answer);
    return answer;
  }

  /** Resolves when mail goes in and out and is seen again. @throws Error when that takes longer than 15 s */
  async recovered(): Promise<number> {
    const begun = performance.now();
    const probe = `back-${this.name}`;
    let tries = 0;
    await eventually(
      'mail comes in and is seen',
      async () => {
        const subject = `${probe}-in-${(tries += 1)}`;
        const { smtp, mailboxes } = this.dak.bootstrap;
        if ((await deliver(smtp.port, mailboxes[0]!.address, subject)) === null) return false;
        this.promisedIn.push(subject);
        return eventually('it is seen', async () => {
          const { body } = await this.dak.api('GET', `/conversations?q=${subject}`);
          return (body?.data?.length ?? 0) > 0;
        });
      },
      RECOVERED_WITHIN_MS,
    );
    await eventually(
      'mail goes out',
      async () => {
        const subject = `${probe}-out-${(tries += 1)}`;
        await this.#out(subject);
        if (!this.promisedOut.includes(subject)) return false;
        return eventually('it arrives', async () => arrivedAt(this.sink).includes(subject));
      },
      RECOVERED_WITHIN_MS,
    );
    const took = performance.now() - begun;
    if (took > RECOVERED_WITHIN_MS) throw new Error(`recovery took ${Math.round(took)} ms`);
    return took;
  }

  /** Ends the load and waits for what is under way. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    await this.#running;
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Answers that no client should get: errors that are none of its doing, and what came too late. */
  unseemly(): string[] {
    return this.answers
      .filter(
        ({ status, retryAfter, ms }) =>
          (status >= 500 && status !== 503) ||
          // A compose that was sent to another replica, while the first one may yet answer, is told to wait (409).
          (status >= 400 && status < 500 && status !== 409) ||
          (status === 503 && retryAfter === null) ||
          ms > ANSWERED_WITHIN_MS,
      )
      .map(({ what, status, ms }) => `${what} ${status} after ${Math.round(ms)} ms`);
  }

  /** Whatever was promised is there: mail in is listed once, mail out has arrived once or is known to be uncertain. */
  async nothingLost(): Promise<void> {
    const mailbox = this.dak.bootstrap.mailboxes[0]!.id;
    const mine = (subject: string): boolean =>
      subject.startsWith(`in-${this.name}-`) || subject.startsWith(`back-${this.name}-in-`);
    let missing: string[] = [];
    await eventually(
      () => `mail in is listed, but for ${missing.length}: ${missing.slice(0, 5).join()}`,
      async () => {
        const listed = (await subjectsIn(this.dak, mailbox)).filter(mine);
        const known = new Set(listed);
        missing = this.promisedIn.filter((subject) => !known.has(subject));
        if (known.size < listed.length) throw new Error('a mail is listed twice');
        return missing.length === 0;
      },
      120_000,
    );
    await eventually(
      () => `mail out has arrived, but for ${missing.length}: ${missing.slice(0, 5).join()}`,
      async () => {
        const { body } = await this.dak.api('GET', '/outbox?status=uncertain&per_page=100');
        const uncertain = (body.data as { subject: string }[]).map(({ subject }) => subject);
        const known = new Set([...arrivedAt(this.sink), ...uncertain]);
        missing = this.promisedOut.filter((subject) => !known.has(subject));
        return missing.length === 0;
      },
      120_000,
    );
    const sent = arrivedAt(this.sink);
    const twice = sent.filter((subject, i) => sent.indexOf(subject) !== i);
    if (twice.length > 0) throw new Error(`sent twice: ${twice.join()}`);
  }
}
