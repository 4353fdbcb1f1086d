/** Where a reply code may stand: at the beginning, or after the words that introduce one; never inside a number or an IP address. */
const REPLY_CODE =
  /(?:^|[\s;:>("'[<=|])([245][0-5]\d)(?=[ -]#?[245]\.\d{1,3}\.\d{1,3}|[ \t-]+[^\d\s.]|[ \t]+\d{1,3}[ \t]|\s*$|[)\]"',;:])/gm;

/** Enhanced status code: class, subject, detail; no part of an IP address, a version or a longer number. */
const ENHANCED_STATUS = /(?:^|[\s;:>("'[#=<-])([245]\.\d\.\d{1,3})(?![\d]|\.\d)/gm;

/** The first SMTP reply code of an error (4xx, 5xx) in the text, else the first 2xx; null when there is none. */
export function findReplyCode(text: string): number | null {
  let success: number | null = null;
  for (const match of text.matchAll(REPLY_CODE)) {
    const code = Number(match[1]);
    if (code >= 400) return code;
    success ??= code;
  }
  return success;
}

/** The first enhanced status code of an error in the text, preferring one that says more than x.0.0; null when there is none. */
export function findEnhancedStatus(text: string): string | null {
  let vague: string | null = null;
  for (const [, code = ''] of text.matchAll(ENHANCED_STATUS)) {
    if (code.startsWith('2.')) vague ??= code;
    else if (!isVague(code)) return code;
    else if (vague === null || vague.startsWith('2.')) vague = code;
  }
  return vague;
}

/** x.0.0 says only whether the failure lasts (RFC 3463 §3.1). */
export function isVague(status: string): boolean {
  return /^[245]\.0\.0$/.test(status);
}
