import { getHeader, getHeaders, type HeaderField } from '@dak/formats/rfc5322';

/** RFC 3834 §5 keywords; `auto-notified` is RFC 5436. `null`: a person wrote it, as far as the headers tell. */
export type AutoSubmitted = 'auto-generated' | 'auto-replied' | 'auto-notified';

export interface AutomationSignals {
  autoSubmitted: AutoSubmitted | null;
  /** The message came through a mailing list or is bulk mail. */
  list: ListSignals | null;
  /** An automatic reply could loop, annoy, or reach no person. True for everything automatic, and for more. */
  doNotAutoReply: boolean;
}

export interface ListSignals {
  /** RFC 2919 identifier without brackets, lower case; null when the list does not name itself. */
  id: string | null;
  /** Whether messages can be posted to it (List-Post other than "NO", RFC 2369 §3.4): a discussion, not a newsletter. */
  posting: boolean;
  unsubscribe: boolean;
}

/**
 * Subjects that responders which set no header put before the subject of the original. Only whole phrases at the
 * beginning: "automatic" alone appears in subjects that people write.
 */
const RESPONDER_SUBJECT =
  /^\s*(?:re:\s*)?(?:(?:automatic|auto|automated)[ -]?(?:reply|response|antwort)|autoreply|auto:|out of (?:the )?office|ooo:|abwesenheits(?:notiz|nachricht|meldung)|automatische antwort|r[ée]ponse automatique|absence du bureau|respuesta autom[áa]tica|resposta autom[áa]tica|risposta automatica|automatisch antwoord|afwezigheidsbericht|automatiskt svar|autosvar|automaattinen vastaus|odpowied[źz] automatyczna|автоматический ответ|автоответ|自動応答|自动回复|自動回覆|자동 회신|स्वचालित उत्तर)/iu;

/** Headers that only responders write. X-Auto-Response-Suppress is not one: it asks for silence, and Exchange sets it on ordinary mail. */
const RESPONDER_HEADERS = ['x-autoreply', 'x-autorespond', 'x-autoresponder', 'x-autoreply-from'];

const NO_REPLY_LOCAL_PART =
  /^(?:mailer-?daemon|postmaster|no-?_?reply|do-?_?not-?_?reply|bounces?|listserv|majordomo|.+-(?:request|bounces?|owner)|owner-.+)(?:[+=].*)?$/i;

/**
 * What the headers say about the origin of a message (RFC 3834, RFC 2369, RFC 2919, and the habits of responders
 * older than these). Pure: reads only the headers given.
 */
export function automationSignals(headers: readonly HeaderField[]): AutomationSignals {
  const fields = [...headers];
  const autoSubmitted = readAutoSubmitted(fields);
  const list = readListSignals(fields);
  return {
    autoSubmitted,
    list,
    doNotAutoReply:
      autoSubmitted !== null ||
      list !== null ||
      (getHeader(fields, 'auto-submitted') !== null && !isDeclaredHuman(fields)) ||
      suppressesResponses(fields) ||
      hasNullReturnPath(fields) ||
      isNoReplySender(fields),
  };
}

function keyword(value: string | null): string {
  return (value ?? '').split(/[;(]/, 1).join('').trim().toLowerCase();
}

function isDeclaredHuman(headers: HeaderField[]): boolean {
  return keyword(getHeader(headers, 'auto-submitted')) === 'no';
}

function readAutoSubmitted(headers: HeaderField[]): AutoSubmitted | null {
  const declared = keyword(getHeader(headers, 'auto-submitted'));
  if (declared === 'no') return null;
  if (declared === 'auto-notified' || declared === 'auto-generated') return declared;
  if (declared.startsWith('auto-')) return 'auto-replied';
  if (RESPONDER_HEADERS.some((name) => isSet(getHeader(headers, name)))) return 'auto-replied';
  if (keyword(getHeader(headers, 'precedence')) === 'auto_reply') return 'auto-replied';
  if (
    isSet(getHeader(headers, 'x-precedence')) &&
    /auto[_-]?reply/i.test(getHeader(headers, 'x-precedence') ?? '')
  ) {
    return 'auto-replied';
  }
  if (/^\s*oof\s*$/i.test(getHeader(headers, 'x-ms-exchange-inbox-rules-loop') ?? ''))
    return 'auto-replied';
  if (RESPONDER_SUBJECT.test(getHeader(headers, 'subject') ?? '')) return 'auto-replied';
  return null;
}

function isSet(value: string | null): boolean {
  return value !== null && !/^\s*(?:no|false|0)?\s*$/i.test(value);
}

function readListSignals(headers: HeaderField[]): ListSignals | null {
  const identifier = getHeader(headers, 'list-id');
  const post = getHeader(headers, 'list-post');
  const unsubscribe = getHeader(headers, 'list-unsubscribe');
  const bulk = /^(?:list|bulk|junk)$/.test(keyword(getHeader(headers, 'precedence')));
  const older = [
    'mailing-list',
    'x-mailing-list',
    'x-beenthere',
    'x-list',
    'x-listname',
    'list-help',
    'list-subscribe',
  ];
  if (
    identifier === null &&
    post === null &&
    unsubscribe === null &&
    !bulk &&
    !older.some((name) => getHeader(headers, name) !== null)
  ) {
    return null;
  }
  return {
    id: listIdentifier(identifier),
    posting: post !== null && !/^\s*no\b/i.test(post),
    unsubscribe: unsubscribe !== null,
  };
}

/** RFC 2919 §3: the text in the last pair of angle brackets; a bare identifier without phrase is taken as it is. */
function listIdentifier(value: string | null): string | null {
  if (value === null) return null;
  const open = value.lastIndexOf('<');
  const close = value.indexOf('>', open);
  const inner = open >= 0 ? value.slice(open + 1, close < 0 ? undefined : close) : value;
  const identifier = inner.trim().toLowerCase();
  return identifier === '' || /\s/.test(identifier) ? null : identifier;
}

/** Only the values that concern answers to people: "RN" and "NRN" are about read receipts. */
function suppressesResponses(headers: HeaderField[]): boolean {
  return getHeaders(headers, 'x-auto-response-suppress').some((value) =>
    /\b(?:all|oof|autoreply)\b/i.test(value),
  );
}

function hasNullReturnPath(headers: HeaderField[]): boolean {
  return /^\s*<\s*>\s*$/.test(getHeader(headers, 'return-path') ?? '');
}

function isNoReplySender(headers: HeaderField[]): boolean {
  const sender = getHeader(headers, 'reply-to') ?? getHeader(headers, 'from') ?? '';
  const address = /([^\s<>"(),:;]{1,128})@[^\s<>"(),:;]/.exec(sender);
  return address?.[1] !== undefined && NO_REPLY_LOCAL_PART.test(address[1]);
}
