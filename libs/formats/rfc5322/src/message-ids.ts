/**
 * The msg-ids of a Message-ID, In-Reply-To or References value, without angle brackets, in order,
 * each once (RFC 5322 §3.6.4). Prose around them is ignored (obs-in-reply-to, §4.5.4); white space
 * that folding left inside an id is dropped; ids without brackets count when nothing else is there.
 */
export function parseMessageIds(value: string): string[] {
  const ids = new Set<string>();
  for (const match of value.matchAll(/<([^<>]*)>/g)) {
    const id = (match[1] ?? '').replace(/\s+/g, '');
    if (id !== '') ids.add(id);
  }
  if (ids.size === 0) {
    const words = value.split(/[\s,<>]+/).filter((word) => word !== '');
    if (words.every((word) => /^[^\s@"()]+@[^\s@"()]+$/.test(word)))
      words.forEach((word) => ids.add(word));
  }
  return [...ids];
}
