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

/** Takes the prefix off, also behind tags in brackets, which lists and ticket systems put in front. */
function strip(subject: string, prefix: RegExp): string {
  let tags = '';
  let rest = subject;
  for (;;) {
    const tag = /^\s*\[[^\]]{1,60}\]\s*/u.exec(rest);
    if (tag !== null && prefix.test(rest.slice(tag[0].length))) {
      tags += `${tag[0].trim()} `;
      rest = rest.slice(tag[0].length);
    }
    const next = rest.replace(prefix, '');
    if (next === rest) return `${tags}${rest}`.trim();
    rest = next;
  }
}
