/** Lines that stand between the reply and the mail it answers. */
const ORIGINAL_WORDS =
  "original message|original appointment|original email|reply message|ursprüngliche nachricht|originalnachricht|ursprüngliche e-mail|message d['’]origine|message original|message initial|mensaje original|mensagem original|messaggio originale|oorspronkelijk bericht|origineel bericht|originele bericht|oprindelig meddelelse|original meddelelse|ursprungligt meddelande|originalmeddelande|opprinnelig melding|alkuperäinen viesti|wiadomość oryginalna|oryginalna wiadomość|wiadomość pierwotna|původní zpráva|pôvodná správa|eredeti üzenet|mesaj original|исходное сообщение|оригинальное сообщение|вихідне повідомлення|αρχικό μήνυμα|orijinal mesaj|özgün ileti|الرسالة الأصلية|הודעה מקורית|मूल संदेश|मूळ संदेश|মূল বার্তা|அசல் செய்தி|అసలు సందేశం|ಮೂಲ ಸಂದೇಶ|മൂല സന്ദേശം|મૂળ સંદેશ|原始邮件|原邮件|原始郵件|原始訊息|邮件原件|元のメッセージ|original mail|원본 메시지|원본 메일|thư gốc|tin nhắn gốc|pesan asli|mesej asal|ข้อความต้นฉบับ";

const ORIGINAL_MARK = new RegExp(
  `^[\\s>*]{0,4}[-_=—–]{2,60}\\s{0,4}(?:${ORIGINAL_WORDS})\\s{0,4}:?\\s{0,4}[-_=—–]{0,60}\\s*$`,
  'iu',
);

const FORWARD_WORDS =
  'forwarded message|forwarded by|forwarded mail|weitergeleitete nachricht|message transféré|message réexpédié|mensaje reenviado|mensagem encaminhada|mensagem reencaminhada|messaggio inoltrato|messaggio reindirizzato|doorgestuurd bericht|vidarebefordrat meddelande|videresendt melding|videresendt meddelelse|edelleenlähetetty viesti|wiadomość przekazana|przekazana wiadomość|treść przekazanej wiadomości|přeposlaná zpráva|továbbított üzenet|mesaj redirecționat|пересылаемое сообщение|пересланное сообщение|переслане повідомлення|iletilen mesaj|yönlendirilen ileti|अग्रेषित संदेश|转发的邮件|轉寄的郵件|转发邮件|転送されたメッセージ|転送メッセージ|전달된 메시지|전달된 메일|thư được chuyển tiếp|pesan diteruskan';
const FORWARD_MARK = new RegExp(
  `^[\\s*]{0,4}[-_=—–]{2,60}\\s{0,4}(?:${FORWARD_WORDS}).{0,160}$`,
  'iu',
);
const FORWARD_START =
  /^\s{0,4}(?:Begin forwarded message|Anfang der weitergeleiteten (?:Nachricht|E-Mail)|Début du message (?:transféré|réexpédié)|Inicio del mensaje reenviado|Início da mensagem (?:encaminhada|reenviada)|Inizio messaggio inoltrato|Begin doorgestuurd bericht|Vidarebefordrat brev|Start på videresendt (?:besked|melding)|Начало переадресованного сообщения|Початок листа, що пересилається)\s*:/iu;

/** Ticket systems ask to answer above such a line; everything below is theirs. */
const REPLY_ABOVE =
  /^[\s>*#=_-]{0,12}(?:please )?(?:type|write|enter|add|reply|respond|do not write|antworten|répondez)[\w ,'’é-]{0,40}\b(?:above|below this line|oberhalb|au-dessus)\b[\w ,'’-]{0,40}[\s#=*_-]{0,12}$/iu;

/** A rule that programs draw above a header block. */
const RULE_LINE = /^[\s>]{0,4}(?:_{10,}|-{10,}|={10,}|\*{10,})\s*$/;

export function isOriginalMark(line: string): boolean {
  return line.length < 300 && /[-_=—–]{2}/.test(line) && ORIGINAL_MARK.test(line);
}

export function isForwardMark(line: string): boolean {
  if (line.length >= 300) return false;
  return (
    (/[-_=—–]{2}/.test(line) && FORWARD_MARK.test(line)) ||
    (line.includes(':') && FORWARD_START.test(line))
  );
}

export function isReplyAboveMark(line: string): boolean {
  return (
    line.length < 200 && /above|below|oberhalb|au-dessus/i.test(line) && REPLY_ABOVE.test(line)
  );
}

export function isRuleLine(line: string): boolean {
  return RULE_LINE.test(line);
}
