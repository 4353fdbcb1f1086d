import { createSecretKey } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { newSecret, parseSecret, signatureHeader } from '../src/index';

/** Signatures per second beside those of the reference library: interleaved rounds, medians. */
const ROUNDS = 5;
const ROUND_MS = 400;

const secret = newSecret();
const secrets = [createSecretKey(parseSecret(secret))];
const reference = new StandardWebhook(secret);
const id = 'evt_0195f0a2-7a7e-7c11-8a53-0f4e4d1f2b11';

/** Per second of CPU, so that other work on the machine does not count. */
function perSecond(work: () => void): number {
  const endsAt = performance.now() + ROUND_MS;
  const before = process.cpuUsage();
  let count = 0;
  for (; performance.now() < endsAt; count += 100) {
    for (let index = 0; index < 100; index += 1) work();
  }
  const { user, system } = process.cpuUsage(before);
  return (count * 1_000_000) / (user + system);
}

const median = (figures: number[]): number => figures.sort((a, b) => a - b)[figures.length >> 1]!;

for (const size of [1_024, 20_480]) {
  const body = Buffer.alloc(size, 'x');
  const at = new Date();
  const timestamp = Math.floor(at.getTime() / 1000);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(perSecond(() => signatureHeader({ id, timestamp, body, secrets })));
    theirs.push(perSecond(() => reference.sign(id, at, body)));
  }
  const [dak, library] = [median(ours), median(theirs)];
  console.log(
    `${size} bytes: ${Math.round(dak)} signatures/s, standardwebhooks ${Math.round(library)}, ratio ${(dak / library).toFixed(1)}`,
  );
}
