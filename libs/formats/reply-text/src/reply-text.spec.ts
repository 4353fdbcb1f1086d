import { newTextOfReply } from './reply-text';

const ATTRIBUTIONS: [language: string, attribution: string][] = [
  ['en', 'On Thursday, April 4th, 2019 at 12:03 PM, Bob <b@example.com> wrote:'],
  ['en', '--- On Thu, 4/4/19, Bob <b@example.com> wrote:'],
  ['de', 'Am Do., 4. Apr. 2019 um 12:03 Uhr schrieb Hans <h@example.de>:'],
  ['de', 'Hans Meier <h@example.de> schrieb am Do., 4. Apr. 2019, 12:03:'],
  ['fr', 'Le mer. 3 janv. 2024 à 10:11, Jean Dupont <\njean@example.fr> a écrit :'],
  ['es', 'El jue., 4 abr. 2019 a las 12:03, Juan (<juan@example.es>) escribió:'],
  ['pt', 'Em qui., 4 de abr. de 2019 às 12:03, João <j@example.br> escreveu:'],
  ['it', 'Il giorno gio 4 apr 2019 alle ore 12:03 Mario Rossi <m@example.it>\nha scritto:'],
  ['nl', 'Op do 4 apr. 2019 om 12:03 schreef Jan <j@example.nl>:'],
  ['sv', 'Den tors 4 apr. 2019 kl 12:03 skrev Sven <s@example.se>:'],
  ['fi', 'to 4. huhtik. 2019 klo 12.03 Matti (m@example.fi) kirjoitti:'],
  ['pl', 'czw., 4 kwi 2019 o 12:03 Jan <j@example.pl> napisał(a):'],
  ['cs', 'čt 4. 4. 2019 v 12:03 odesílatel Jan <j@example.cz> napsal:'],
  ['hu', 'János <j@example.hu> ezt írta (időpont: 2019. ápr. 4., Cs, 12:03):'],
  ['ro', 'În joi, 4 apr. 2019 la 12:03, Ion <i@example.ro> a scris:'],
  ['ru', 'чт, 4 апр. 2019 г. в 12:03, Иван <i@example.ru>:'],
  ['uk', 'чт, 4 квіт. 2019 р. о 12:03 Іван <i@example.ua> пише:'],
  ['bg', 'На чт, 4.04.2019 г. в 12:03 Иван <i@example.bg> написа:'],
  ['el', 'Στις Πέμ, 4 Απρ 2019 στις 12:03 μ.μ., ο χρήστης Nikos <n@example.gr> έγραψε:'],
  ['tr', 'Ali <a@example.tr>, 4 Nis 2019 Per, 12:03 tarihinde şunu yazdı:'],
  ['he', '‫בתאריך יום ה׳, 4 באפר׳ 2019 ב-12:03 מאת דן <‪d@example.il‬‏>:‬'],
  ['ar', 'في الخميس، 4 أبريل 2019 في 12:03 م تمت كتابة ما يلي بواسطة علي <a@example.eg>:'],
  ['hi', 'गुरु, 4 अप्रैल 2019 को 12:03 pm बजे को राम <r@example.in> ने लिखा:'],
  ['mr', 'गुरु, ४ एप्रिल, २०१९ रोजी १२:०३ म.उ. वाजता राम <r@example.in> यांनी लिहिले:'],
  ['bn', 'বৃহস্পতি, ৪ এপ্রিল, ২০১৯ ১২:০৩ PM এ রাম <r@example.in> লিখেছেন:'],
  ['gu', 'ગુરુ, 4 એપ્રિલ, 2019 એ 12:03 PM વાગ્યે રામ <r@example.in> એ લખ્યું:'],
  ['pa', "ਵੀਰ, 4 ਅਪ੍ਰੈ 2019 ਨੂੰ 12:03 ਬਾ.ਦੁ. 'ਤੇ, ਰਾਮ <r@example.in> ਨੇ ਲਿਖਿਆ:"],
  ['ta', 'வியா., 4 ஏப்., 2019, பிற்பகல் 12:03 அன்று, ராம் <r@example.in> எழுதியது:'],
  ['te', 'గురు, 4 ఏప్రి, 2019, 12:03 PMకి, రామ్ <r@example.in> ఇలా రాశారు:'],
  ['kn', 'ಗುರು, ಏಪ್ರಿ 4, 2019, 12:03 PM ರಂದು ರಾಮ್ <r@example.in> ಅವರು ಬರೆದಿದ್ದಾರೆ:'],
  ['ml', '2019 ഏപ്രി 4, വ്യാ 12:03 PM-ന്, റാം <r@example.in> ഇപ്രകാരം എഴുതി:'],
  ['ur', 'جمعرات، 4 اپریل، 2019 کو 12:03 PM پر رام <r@example.in> نے لکھا:'],
  ['vi', 'Vào 14:24 8 tháng 6, 2017, Hùng Nguyễn <h@example.vn> đã viết:'],
  ['th', 'ในวันที่ พฤ. 4 เม.ย. 2019 12:03 น. Som <s@example.th> เขียนว่า:'],
  ['id', 'Pada tanggal Kam, 4 Apr 2019 12.03, Budi <b@example.id> menulis:'],
  ['zh', '张三 <z@example.cn> 于2019年4月4日周四 下午12:03写道：'],
  ['ja', '2019年4月4日(木) 12:03 山田 <y@example.jp>:'],
  ['ko', '2019년 4월 4일 (목) 오후 12:03, 김 <k@example.kr>님이 작성:'],
  [
    'de',
    'Von: Anna <a@example.de>\nGesendet: Donnerstag, 4. April 2019\nAn: Bert\nBetreff: Angebot',
  ],
  ['hi', 'प्रेषक: राम <r@example.in>\nभेजा गया: गुरुवार\nप्रति: सीता\nविषय: आदेश'],
];

describe('newTextOfReply', () => {
  it.each(ATTRIBUTIONS)('recognizes in %s: %s', (language, attribution) => {
    for (const old of ['> the old mail\n> goes on', 'the old mail, not marked']) {
      const reply = newTextOfReply(`My answer.\n\nThanks\n\n${attribution}\n\n${old}`);
      expect(reply).toMatchObject({ text: 'My answer.\n\nThanks', language });
    }
  });

  it.each([
    ['prose that begins like an attribution', 'On Monday I wrote:\n\nThis is what I meant.'],
    ['words that look like header fields', 'Please deliver\nFrom: Berlin\nTo: Paris\non Monday.'],
    [
      'a decoration with angle brackets',
      'Visit us\n>>> >>> http://example.com <<<\nor click above',
    ],
    [
      'answers between the quoted lines',
      'Hi,\n\n> one?\n> two?\n\nYes.\n\n> three?\n> four?\n\nNo.',
    ],
    [
      'a forwarded mail',
      'FYI\n\n---------- Forwarded message ----------\nFrom: b@example.com\nDate: today\n\nText',
    ],
    [
      'a sentence that begins as a device signature',
      'Hi\n\nSent from my desk, is much easier than my phone.',
    ],
    [
      'a mail that is nothing but a quotation',
      'On 4/4/2019 10:00, Bob wrote:\n> all\n> of it\n> is old',
    ],
  ])('keeps %s', (_, body) => {
    expect(newTextOfReply(body).text).toBe(body);
  });

  it('keeps an answer below the quotation', () => {
    const body =
      'On 4/4/2019 10:00, Bob <b@example.com> wrote:\n\n> question\n\nMy answer\nin two lines';
    expect(newTextOfReply(body)).toMatchObject({
      text: 'My answer\nin two lines',
      method: 'attribution',
    });
  });

  it('takes off delimited signatures and device lines, and leaves closings', () => {
    expect(newTextOfReply('Yes.\n\nRegards, Anna\n-- \nAnna Berg\nExample Ltd').text).toBe(
      'Yes.\n\nRegards, Anna',
    );
    expect(newTextOfReply('Yes.\n\nVon meinem iPhone gesendet').text).toBe('Yes.');
    expect(newTextOfReply('-- \nAnna').text).toBe('-- \nAnna');
  });

  it.each([
    ['quoted lines', '> a\n'],
    ['attributions without verb', 'On Mon, 4 Apr 2019 at 12:03, x <a@b.c>\n'],
    ['header lines', 'From: a@b.c\n'],
    ['rules', '_____________________\n'],
    ['one long line', 'a@b '],
  ])('takes time in proportion to the length of %s', (_, unit) => {
    const seconds = (times: number) => {
      const body = unit.repeat(times);
      const started = performance.now();
      expect(newTextOfReply(body).text).not.toBe('');
      return performance.now() - started;
    };
    seconds(1000);
    // Quadratic growth would need minutes for these 1 MB.
    expect(seconds(Math.floor(1_000_000 / unit.length))).toBeLessThan(5000);
  });
});
