import type { Transport } from './transport';

/** Takes everything and lets nothing out; the raw message stays in the blob store. */
export function createCaptureTransport(): Transport {
  const reply = { code: 250, enhanced: '2.0.0', text: 'Captured: kept here, not sent' } as const;
  return {
    name: 'capture',
    routeOf: () => 'capture',
    send: ({ recipients }) =>
      Promise.resolve(
        recipients.map((recipient) => ({
          recipient,
          outcome: 'accepted',
          phase: 'accepted',
          reply,
        })),
      ),
    close: () => Promise.resolve(),
  };
}
