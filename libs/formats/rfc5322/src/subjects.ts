export interface BaseSubject {
  /** NFC, one line, without reply and forward marks and list tags, case kept; may be empty. Compare without case. */
  base: string;
  isReply: boolean;
  isForward: boolean;
}

/** Reply marks that mail programs set by language; RFC 5256 knows only "re". */
const REPLY_MARKS = [
  ...['re', 'r', 'ref', 'aw', 'antw', 'antwort', 'sv', 'vs', 'res', 'resp', 'rif', 'odp', 'ynt'],
  ...[
    'bls',
    'atb',
    'vá',
    'tl',
    'απ',
    'σχετ',
    'ответ',
    'отв',
    '回复',
    '回覆',
    '答复',
    '答覆',
    '返信',
  ],
  ...['답장', '회신', 'השב', 'תגובה', 'رد', 'उत्तर'],
];

/** Forward marks by language; RFC 5256 knows "fw" and "fwd". */
const FORWARD_MARKS = [
  ...['fw', 'fwd', 'wg', 'tr', 'rv', 'enc', 'i', 'vb', 'vl', 'pd', 'ilt', 'trs', 'doorst'],
  ...[
    'továbbítás',
    'πρθ',
    '转发',
    '轉寄',
    '轉發',
    '転送',
    '전달',
    'הועבר',
    'إعادة توجيه',
    'अग्रेषित',
  ],
];

const forwards = new Set(FORWARD_MARKS);

/**
 * `[tag] Re[2]: `: list tags, one mark, an optional counter (`[2]`, `(2)`, `^2`), a colon. The colon
 * may be full-width, white space is optional everywhere.
 */
const LEADER = new RegExp(
  String.raw`^(?:\[[^[\]]*\]\s*)*(${[...REPLY_MARKS, ...FORWARD_MARKS].join('|')})\s*(?:\[[^[\]]*\]|\(\d{1,4}\)|\^?\d{1,4})?\s*[::]\s*`,
  'iu',
);
const TAG = /^\[[^[\]]*\]\s*/u;
const FORWARD_TRAILER = /\s*\(fwd\)$/iu;
const FORWARD_WRAPPER = /^\[fwd:(.*)\]$/iu;

/** RFC 5322 §2.1.1 allows 998 characters a line; more is no subject. */
const MAX_LENGTH = 1000;

/**
 * The base subject (RFC 5256 §2.1) of a decoded subject, with the marks of other languages and
 * after NFC, since mail programs disagree about composed characters.
 */
export function baseSubject(subject: string): BaseSubject {
  let base = subject
    .slice(0, MAX_LENGTH)
    .normalize('NFC')
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();
  let isReply = false;
  let isForward = false;
  for (;;) {
    const before = base;
    if (FORWARD_TRAILER.test(base)) {
      isForward = true;
      base = base.replace(FORWARD_TRAILER, '');
    }
    const leader = LEADER.exec(base);
    if (leader) {
      if (forwards.has((leader[1] ?? '').toLowerCase())) isForward = true;
      else isReply = true;
      base = base.slice(leader[0].length);
    }
    const wrapper = FORWARD_WRAPPER.exec(base);
    if (wrapper) {
      isForward = true;
      base = (wrapper[1] ?? '').trim();
    }
    // A tag that is all there is stays: it is the subject (RFC 5256 §2.1 step 4).
    const untagged = base.replace(TAG, '');
    if (untagged !== '') base = untagged;
    if (base === before) return { base, isReply, isForward };
  }
}
