/** A signature is short; a delimiter with more below it is a list or a drawing. */
const MAX_SIGNATURE_LINES = 16;

/** RFC 3676 §4.3 "-- ", and the forms without the blank or with underscores that programs write. */
const DELIMITER = /^(?:--|__|—— ?|– –)[ \t\u00a0]*$/;

/** What phones and web mailers add. At most four plain words after the phrase: "Sent from my desk, is much easier" is prose. */
const DEVICE_LINE =
  /^[\s*_]{0,4}(?:(?:sent|enviad[oa]|gesendet|verzonden|verstuurd|inviat[oa]|sendt|skickat|lähetetty|wysłane?|odesláno|отправлено|надіслано|gönderildi|envoyé|trimis|küldve|dikirim|gửi)\s{1,3}(?:from|via|using|with|by|mit|von|vom|aus|depuis|de|du|desde|do|da|dal|dall|met|vanaf|van|fra|från|min|minun|z|ze|ze|с|з|iz|din|dari|từ|meu|mi|mon|my)\b[^.!?,:;]{1,60}|(?:get|download|obtenir|outlook für|holen sie sich|obtener|scarica|baixar|télécharger)\s{1,3}(?:outlook|the .{0,30} app|.{0,20}outlook)\b.{0,60}|von meinem .{1,40} gesendet|iphone(?:'?dan| ?から送信| 에서 보냄)|(?:my|mijn) .{1,20} verzonden|发自我的.{1,20}|從我的.{1,20}(?:傳送|寄出)|從我的.{1,20}|.{1,20}から送信|나의 .{1,20}에서 보냄|मेरे .{1,20} से भेजा गया|lähetetty .{1,30}|sent from a .{1,60})[\s*_]{0,4}(?:<https?:[^>\s]{1,200}>)?\s*$/iu;

/**
 * Number of lines of `lines` that remain when a signature at the end is taken off: text after the delimiter of RFC 3676,
 * or the line that a device adds. Closings ("Regards, Anna") stay: people write them.
 */
export function withoutSignature(lines: readonly string[]): number {
  let end = trimmedEnd(lines, lines.length);
  for (let index = end - 1; index >= 0 && index >= end - MAX_SIGNATURE_LINES; index -= 1) {
    const line = lines[index] ?? '';
    if (DELIMITER.test(line) && index > 0) {
      end = trimmedEnd(lines, index);
      break;
    }
  }
  const last = lines[end - 1];
  if (
    last !== undefined &&
    end > 1 &&
    last.length < 200 &&
    DEVICE_LINE.test(last) &&
    wordCount(last) <= 9
  ) {
    end = trimmedEnd(lines, end - 1);
  }
  return end;
}

function wordCount(line: string): number {
  return line
    .replace(/<[^>]*>/g, '')
    .trim()
    .split(/\s+/).length;
}

function trimmedEnd(lines: readonly string[], from: number): number {
  let end = from;
  while (end > 0 && (lines[end - 1] ?? '').trim() === '') end -= 1;
  return end;
}

/** The text without a signature at its end; the whole text when nothing else is left. */
export function stripSignature(text: string): string {
  const lines = text.split('\n');
  const rest = lines.slice(0, withoutSignature(lines)).join('\n').trim();
  return rest === '' ? text.trim() : rest;
}
