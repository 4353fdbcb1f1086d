import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parseMessage } from '@dak/formats/rfc5322';

import { BOUNCE_REASONS, readDeliveryReport } from '../src';

interface Fact {
  status: string;
  status_in_message?: boolean;
  reply_code: string;
  reason: string;
  hard: boolean;
  feedback_type?: string;
}

const folder = join(__dirname, 'corpora', 'bounces');
const truth = JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')) as Record<
  string,
  Fact[]
>;
const bounces = Object.entries(truth).filter(([, facts]) => facts[0]?.feedback_type === undefined);

function read(file: string) {
  const message = parseMessage(readFileSync(join(folder, file)));
  return readDeliveryReport(message, message.text);
}

/** Share of the facts, over the recipients in order, that the reading agrees with. */
function agreement(holds: (fact: Fact, outcome: Outcome) => boolean, applies = (_: Fact) => true) {
  let agreed = 0;
  let all = 0;
  for (const [file, facts] of bounces) {
    const recipients = read(file)?.recipients ?? [];
    for (const [index, fact] of facts.entries()) {
      if (!applies(fact)) continue;
      all += 1;
      const outcome = recipients[index];
      if (outcome && holds(fact, outcome)) agreed += 1;
    }
  }
  return agreed / all;
}
type Outcome = NonNullable<ReturnType<typeof read>>['recipients'][number];

describe('the bounces of the corpus', () => {
  it('are recognized, also with bare CR line ends', () => {
    const missed = bounces.filter(([file]) => read(file) === null).map(([file]) => file);
    expect(missed.length / bounces.length).toBeLessThan(0.03);
    expect(missed.filter((file) => file.startsWith('mac/'))).toEqual([]);
  });

  it('do not include a message that only carries another one', () => {
    for (const file of readdirSync(join(folder, 'negatives'))) {
      expect(read(`negatives/${file}`)).toBeNull();
    }
  });

  it('agree on the enhanced status code where the message has one', () => {
    const share = agreement(
      (fact, outcome) => outcome.status === fact.status,
      (fact) => fact.status_in_message === true,
    );
    expect(share).toBeGreaterThan(0.95);
  });

  it('agree on the reply code', () => {
    expect(
      agreement((fact, outcome) => String(outcome.smtpCode ?? '') === fact.reply_code),
    ).toBeGreaterThan(0.94);
  });

  it('agree on whether the address is beyond hope', () => {
    expect(agreement((fact, outcome) => outcome.hard === fact.hard)).toBeGreaterThan(0.88);
  });

  it('agree on the reason, in the words of the list', () => {
    expect(agreement((fact, outcome) => outcome.reason === fact.reason)).toBeGreaterThan(0.84);
    const words = bounces.flatMap(
      ([file]) => read(file)?.recipients.map(({ reason }) => reason) ?? [],
    );
    expect(BOUNCE_REASONS).toEqual(expect.arrayContaining([...new Set(words)]));
  });
});
