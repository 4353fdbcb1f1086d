/** A block of header lines ("From: … / Sent: … / Subject: …") that Outlook and others put above the quoted mail. */
export interface HeaderBlock {
  language: string | null;
}

type HeaderKind = 'from' | 'date' | 'to' | 'subject' | 'cc';

/** Labels by language; where languages share a label, the first decides. */
const LABELS: readonly (readonly [language: string, Partial<Record<HeaderKind, string>>])[] = [
  ['en', { from: 'From', date: 'Sent|Date', to: 'To', subject: 'Subject', cc: 'Cc' }],
  [
    'de',
    { from: 'Von', date: 'Gesendet|Datum|Gesendet am', to: 'An', subject: 'Betreff', cc: 'Kopie' },
  ],
  [
    'fr',
    {
      from: 'De|Expéditeur',
      date: 'Envoyé|Date|Envoyé le',
      to: 'À|Pour|Destinataire',
      subject: 'Objet|Sujet',
      cc: 'Copie',
    },
  ],
  [
    'es',
    {
      from: 'De|Remitente',
      date: 'Enviado|Fecha|Enviado el',
      to: 'Para|Destinatario',
      subject: 'Asunto',
      cc: 'CC',
    },
  ],
  [
    'pt',
    {
      from: 'De|Remetente',
      date: 'Enviado|Data|Enviada em|Enviado em',
      to: 'Para',
      subject: 'Assunto',
    },
  ],
  ['it', { from: 'Da|Mittente', date: 'Inviato|Data', to: 'A|Destinatario', subject: 'Oggetto' }],
  ['nl', { from: 'Van', date: 'Verzonden|Datum', to: 'Aan', subject: 'Onderwerp' }],
  ['sv', { from: 'Från', date: 'Skickat|Datum', to: 'Till', subject: 'Ämne', cc: 'Kopia' }],
  ['da', { from: 'Fra', date: 'Sendt|Dato', to: 'Til', subject: 'Emne', cc: 'Kopi' }],
  [
    'fi',
    {
      from: 'Lähettäjä',
      date: 'Lähetetty|Päivämäärä|Päiväys',
      to: 'Vastaanottaja|Kenelle',
      subject: 'Aihe',
      cc: 'Kopio',
    },
  ],
  ['pl', { from: 'Od', date: 'Wysłano|Data|Wysłane', to: 'Do', subject: 'Temat', cc: 'DW' }],
  [
    'cs',
    { from: 'Od|Odesílatel', date: 'Odesláno|Datum', to: 'Komu', subject: 'Předmět', cc: 'Kopie' },
  ],
  ['sk', { from: 'Od', date: 'Odoslané|Dátum', to: 'Komu', subject: 'Predmet' }],
  [
    'hu',
    {
      from: 'Feladó|Küldő',
      date: 'Elküldve|Dátum|Küldve',
      to: 'Címzett',
      subject: 'Tárgy',
      cc: 'Másolatot kap',
    },
  ],
  ['ro', { from: 'De la', date: 'Trimis|Data', to: 'Către|Catre', subject: 'Subiect' }],
  ['ru', { from: 'От|От кого', date: 'Отправлено|Дата', to: 'Кому', subject: 'Тема', cc: 'Копия' }],
  [
    'uk',
    { from: 'Від|Від кого', date: 'Надіслано|Дата', to: 'Кому', subject: 'Тема', cc: 'Копія' },
  ],
  ['el', { from: 'Από', date: 'Στάλθηκε|Ημερομηνία', to: 'Προς', subject: 'Θέμα' }],
  [
    'tr',
    {
      from: 'Kimden|Gönderen',
      date: 'Gönderildi|Gönderilme tarihi|Tarih',
      to: 'Kime|Alıcı',
      subject: 'Konu',
      cc: 'Bilgi',
    },
  ],
  ['he', { from: 'מאת', date: 'נשלח|תאריך', to: 'אל', subject: 'נושא' }],
  ['ar', { from: 'من', date: 'تم الإرسال|التاريخ|أرسلت', to: 'إلى', subject: 'الموضوع' }],
  [
    'hi',
    {
      from: 'प्रेषक|से|भेजने वाला',
      date: 'भेजा गया|दिनांक|तारीख',
      to: 'प्रति|को|प्राप्तकर्ता',
      subject: 'विषय',
    },
  ],
  ['bn', { from: 'থেকে|প্রেরক', date: 'তারিখ|পাঠানো', to: 'প্রতি|প্রাপক', subject: 'বিষয়' }],
  ['ta', { from: 'அனுப்புநர்|இருந்து', date: 'தேதி|அனுப்பப்பட்டது', to: 'பெறுநர்', subject: 'பொருள்' }],
  ['te', { from: 'నుండి|పంపినవారు', date: 'తేదీ|పంపబడింది', to: 'కు|స్వీకర్త', subject: 'విషయం' }],
  ['mr', { from: 'प्रेषक|कडून', date: 'दिनांक|पाठविले', to: 'प्रति', subject: 'विषय' }],
  ['gu', { from: 'તરફથી|પ્રેષક', date: 'તારીખ|મોકલેલ', to: 'પ્રતિ', subject: 'વિષય' }],
  [
    'zh',
    {
      from: '发件人|寄件者|寄件人|发件人员',
      date: '发送时间|日期|發送時間|寄件日期|傳送時間|時間|时间',
      to: '收件人|收件者',
      subject: '主题|主旨|主題',
      cc: '抄送|副本',
    },
  ],
  [
    'ja',
    { from: '差出人|送信者', date: '送信日時|日時|日付', to: '宛先', subject: '件名', cc: 'CC' },
  ],
  [
    'ko',
    {
      from: '보낸 사람|보낸사람|발신',
      date: '보낸 날짜|날짜|보낸 시간',
      to: '받는 사람|받는사람|수신',
      subject: '제목',
      cc: '참조',
    },
  ],
  ['vi', { from: 'Từ', date: 'Đã gửi|Ngày', to: 'Đến|Tới', subject: 'Chủ đề' }],
  ['id', { from: 'Dari', date: 'Dikirim|Tanggal', to: 'Kepada|Ke', subject: 'Subjek|Perihal' }],
];

interface LabelEntry {
  kind: HeaderKind;
  language: string;
}

const ENTRIES = new Map<string, LabelEntry>();
for (const [language, kinds] of LABELS) {
  for (const [kind, words] of Object.entries(kinds)) {
    for (const word of words.split('|')) {
      const key = word.toLowerCase();
      if (!ENTRIES.has(key)) ENTRIES.set(key, { kind: kind as HeaderKind, language });
    }
  }
}

const LABEL_LINE =
  /^[\s*_>]{0,8}([\p{L}\p{M}][\p{L}\p{M} ]{0,24})[*_ \u00a0]{0,3}[:：][*_ \u00a0]{0,3}(.*)$/u;

/** A block that lost its line breaks ("From: a@example.org Sent: …"), as happens inside HTML. */
const ONE_LINE =
  /^[\s*_]{0,8}(?:From|Von|De|Da|Van|Fra|Från|Od|От)[*_ \u00a0]{0,3}:.{3,200}@.{3,200}\b(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado|Inviato|Data|Verzonden|Sendt|Skickat|Wysłano|Дата|Отправлено)[*_ \u00a0]{0,3}:/u;

/** How far the next header line may be: a wrapped To field or a blank line of a double-spaced block. */
const MAX_GAP = 3;
const MAX_BLOCK = 16;

/** The header block that begins exactly at line `at`, or null. */
export function matchHeaderBlock(lines: readonly string[], at: number): HeaderBlock | null {
  if (!/[:：]/.test(lines[at] ?? '')) return null;
  const first = readLabel(lines[at] ?? '');
  if (first === null)
    return ONE_LINE.test((lines[at] ?? '').slice(0, 500)) ? { language: null } : null;
  if (
    first.kind !== 'from' &&
    first.kind !== 'date' &&
    first.kind !== 'subject' &&
    first.kind !== 'to'
  )
    return null;
  if (ONE_LINE.test((lines[at] ?? '').slice(0, 500))) return { language: first.language };
  const kinds = new Set<HeaderKind>([first.kind]);
  const languages = new Map<string, number>([[first.language, 1]]);
  let hasAddress = first.value.includes('@');
  let gap = 0;
  for (
    let index = at + 1;
    index < lines.length && index < at + MAX_BLOCK && gap < MAX_GAP;
    index += 1
  ) {
    const label = readLabel(lines[index] ?? '');
    if (label === null) {
      gap += 1;
      continue;
    }
    gap = 0;
    kinds.add(label.kind);
    hasAddress ||= label.value.includes('@');
    languages.set(label.language, (languages.get(label.language) ?? 0) + 1);
  }
  // "From: Berlin / To: Paris" in prose has neither an address nor the whole set.
  const whole = kinds.has('from') && kinds.has('date') && kinds.has('subject');
  const opens = kinds.has('from') || (kinds.has('date') && kinds.has('to'));
  if (!(
    whole ||
    (opens &&
      hasAddress &&
      kinds.size >= 2 &&
      (kinds.has('date') || kinds.has('subject') || kinds.size >= 3)) ||
    (opens && kinds.has('date') && hasAddress)
  )) {
    return null;
  }
  let language = first.language;
  for (const [candidate, count] of languages) {
    if (count > (languages.get(language) ?? 0)) language = candidate;
  }
  return { language };
}

function readLabel(line: string): { kind: HeaderKind; language: string; value: string } | null {
  const match = LABEL_LINE.exec(line.length > 1000 ? line.slice(0, 1000) : line);
  if (!match) return null;
  const entry = ENTRIES.get((match[1] ?? '').trim().toLowerCase());
  return entry ? { ...entry, value: match[2] ?? '' } : null;
}
