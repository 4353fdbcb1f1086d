/**
 * Reply prefixes of common clients, also counted (`Re[2]:`) and with a full-width colon. A subject
 * that already has one gets exactly one `Re:`, the form all clients know (RFC 5322 §3.6.5).
 */
const REPLY =
  /^\s*(?:re|aw|antw|sv|vs|rv|res|odp|ynt|رد|回复|回覆|答复)(?:\s*[[(]\d{1,3}[\])]|\^\d{1,3})?\s*[:：]\s*/iu;
const FORWARD = /^\s*(?:fwd?|wg|tr|rv|enc|i|转发|轉寄)(?:\s*[[(]\d{1,3}[\])])?\s*[:：]\s*/iu;

export function replySubject(subject: string): string {
  return `Re: ${strip(subject, REPLY)}`.trim();
}

export function forwardSubject(subject: string): string {
  return `Fwd: ${strip(subject, FORWARD)}`.trim();
}

function strip(subject: string, prefix: RegExp): string {
  let rest = subject;
  for (;;) {
    const next = rest.replace(prefix, '');
    if (next === rest) return rest.trim();
    rest = next;
  }
}
