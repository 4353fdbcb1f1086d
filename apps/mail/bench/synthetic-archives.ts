import { seededRandom } from './pair-score';

/** A made archive and the thread of every message, by Message-ID without brackets. */
export interface SyntheticArchive {
  name: string;
  raws: Buffer[];
  threadOf: Map<string, number>;
}

interface Person {
  name: string;
  address: string;
}

interface Letter {
  id: string;
  from: Person;
  date: Date;
  subject: string;
  text: string;
  references: string[];
}

/** How the programs of an archive write replies. */
interface Manner {
  name: string;
  people: number;
  threads: number;
  /** Letters of one thread, at most. */
  longest: number;
  to: string;
  footer: string;
  subject: (random: () => number, thread: number) => string;
  mark: (random: () => number) => string;
  quote: (letter: Letter, random: () => number) => string;
  /** Two correspondents take turns, instead of anybody answering anybody. */
  isPrivate: boolean;
  hasThreadIndex: boolean;
}

const WORDS =
  `able about above accept account across action add address adjust after again agree air album allow almost along already also amount and answer any appear apply area arm arrive ask at attach autumn away back bag balance bank base battery be because become before begin behind believe below beside best better between bill black board boat body book both bottle bottom box branch bread break bridge bright bring broken brother brown budget build bus business but button buy by cable call camera can car card care carry case catch cause change charge check child choose city class clean clear clock close coat code cold come common company complete connect contact contract control copy corner cost could count country course cover create cross current customer cut cycle daily damage dark data date day dead deal decide deep delay deliver demand depend describe desk detail device different dinner direct discuss do document door double down draft drive drop dry due during each early earth easy edge either email empty end engine enough enter error even evening event every exact example except expect explain extra eye face fact fail fall far fast father feature feel few field figure file fill final find fine finish fire first fit fix floor follow food foot for force form forward free fresh friend from front full future garden gate general get give glass go gold good grant great green ground group grow guess half hall hand handle happen hard have head hear heat heavy height help here high hold home hope hot hour house how however idea if image import improve in include index inform inside install into invoice issue item job join just keep key kind kitchen know label lack lamp language large last late laugh law lead learn leave left less let letter level library light like limit line link list little live load local lock log long look lose lot low machine mail main make manage manual many map mark market master match matter may mean measure meet member memory menu message metal method middle might mind minute miss mobile model moment money month more morning most mother mount move much music must name near need never new next night no none normal north not note nothing notice now number object of off offer office often oil old on once one only open option or orange order other our out over own pack page paint pair paper parcel park part party pass past patch path pay people perhaps phone photo pick picture piece place plan plant play please plug point pool power prefer prepare present press price print problem process produce project promise proof protect provide public pull pump purchase push put quality question quick quiet quite rain raise range rate reach read ready real reason receive record red reduce refund remain remember remove rent repair repeat replace report request reset rest result return review right ring river road room round rule run safe sale same save say school screen sea search season seat second see seem select sell send serve service set setting several shape share sheet ship shop short should show side sign silver simple since single sister site size skill sleep slow small smart snow so soft some son soon sort sound south space speak special speed spend spring square staff stage stand start state station stay step still stone stop store storm story street strong study style such summer sun supply support sure surface switch system table take talk tall task team tell term test than thank that the their them then there these they thing think this those though three through ticket time to today together tomorrow too tool top total touch toward town track trade train travel tree trip true try turn two type under until up update upon use user usual valve value version very view visit voice wait walk wall want warm watch water way weather week weight well west what wheel when where which while white who whole why wide will wind window winter wire with within without wood word work world would write wrong year yellow yes yesterday yet young`.split(
    ' ',
  );
const GIVEN =
  'Anna Bernd Chloe Dmitri Elif Farid Greta Hugo Inga Jorge Kavita Lars Mei Nadia Olaf Priya Quentin Rosa Sven Tariq Ursula Viktor Wanda Xenia Yusuf Zoe'.split(
    ' ',
  );
const FAMILY =
  'Abel Brandt Costa Duval Eriksen Fischer Gupta Hansen Ito Jansen Keller Lopez Moreau Novak Olsen Peters Quinn Rossi Schmidt Tanaka Ueda Varga Weber Young Zimmer'.split(
    ' ',
  );
const GENERIC = ['Order', 'Question', 'Invoice', 'Hello', 'Problem', 'Delivery', 'Help needed'];

const pick = <T>(items: readonly T[], random: () => number): T =>
  items[Math.floor(random() * items.length)]!;

function person(index: number): Person {
  const given = GIVEN[index % GIVEN.length]!;
  const family = FAMILY[(index * 7 + Math.floor(index / GIVEN.length)) % FAMILY.length]!;
  return {
    name: `${given} ${family}`,
    address: `${given}.${family}${index}@mail${index % 9}.example`.toLowerCase(),
  };
}

function sentences(random: () => number, count: number): string {
  return Array.from({ length: count }, () => {
    const words = Array.from({ length: 6 + Math.floor(random() * 12) }, () => pick(WORDS, random));
    const text = words.join(' ');
    return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
  }).join('\n');
}

const prefixed = (text: string) =>
  text
    .split('\n')
    .map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`))
    .join('\n');

/** Above the quotation as Unix programs do, only a part of the text kept. */
function interleaved(letter: Letter, random: () => number): string {
  const lines = letter.text.split('\n');
  const kept = lines.slice(0, Math.max(2, Math.ceil(lines.length * (0.4 + random() * 0.6))));
  return `On ${letter.date.toUTCString()}, ${letter.from.name} wrote:\n${prefixed(kept.join('\n'))}\n\n`;
}

/** Below the answer, with a copy of the header in the language of the program. */
function outlook(letter: Letter, random: () => number): string {
  const [from, sent, to, subject, rule] = pick(
    [
      ['From', 'Sent', 'To', 'Subject', '-----Original Message-----'],
      ['Von', 'Gesendet', 'An', 'Betreff', '-----Ursprüngliche Nachricht-----'],
      ['De', 'Envoyé', 'À', 'Objet', "-----Message d'origine-----"],
      ['Från', 'Skickat', 'Till', 'Ämne', '-----Ursprungligt meddelande-----'],
    ] as const,
    random,
  );
  return `\n\n${rule}\n${from}: ${letter.from.name} <${letter.from.address}>\n${sent}: ${letter.date.toUTCString()}\n${to}: Team\n${subject}: ${letter.subject}\n\n${letter.text}\n`;
}

const titled = (random: () => number) => sentences(random, 1).split(' ').slice(0, 5).join(' ');

const MANNERS: Manner[] = [
  {
    name: 'mailing list',
    people: 40,
    threads: 60,
    longest: 18,
    to: 'dev@lists.example',
    footer:
      '_______________________________________________\ndev mailing list\ndev@lists.example\n',
    subject: (random) => `[dev] ${titled(random)}`,
    mark: () => 'Re: ',
    quote: interleaved,
    isPrivate: false,
    hasThreadIndex: false,
  },
  {
    name: 'support, everybody writes "Order"',
    people: 120,
    threads: 160,
    longest: 7,
    to: 'support@shop.example',
    footer: '',
    subject: (random) => pick(GENERIC, random),
    mark: (random) => pick(['Re: ', 'RE: ', 'Aw: ', 'Re[2]: '], random),
    quote: (letter, random) => (random() < 0.5 ? interleaved(letter, random) : ''),
    isPrivate: true,
    hasThreadIndex: false,
  },
  {
    name: 'Outlook in an office',
    people: 25,
    threads: 70,
    longest: 9,
    to: 'team@office.example',
    footer: '',
    subject: (random) => (random() < 0.3 ? pick(GENERIC, random) : titled(random)),
    mark: (random) => pick(['RE: ', 'AW: ', 'SV: ', 'RE : '], random),
    quote: outlook,
    isPrivate: false,
    hasThreadIndex: true,
  },
  {
    name: 'marks of many languages',
    people: 60,
    threads: 80,
    longest: 8,
    to: 'info@verein.example',
    footer: '',
    subject: (random) => titled(random),
    mark: (random) =>
      pick(['AW: ', 'Antw: ', 'SV: ', 'VS: ', 'RES: ', 'Odp: ', 'YNT: ', 'Rif: ', '回复:'], random),
    quote: (letter, random) =>
      random() < 0.7 ? outlook(letter, random) : interleaved(letter, random),
    isPrivate: true,
    hasThreadIndex: false,
  },
];

export function syntheticArchives(): SyntheticArchive[] {
  return [...MANNERS.map(correspondence), notifications()];
}

function correspondence(manner: Manner, number: number): SyntheticArchive {
  const random = seededRandom(100 + number);
  const start = Date.UTC(2026, 2, 1);
  const threadOf = new Map<string, number>();
  const raws: Buffer[] = [];
  for (let thread = 0; thread < manner.threads; thread += 1) {
    const base = manner.subject(random, thread);
    const first = person(Math.floor(random() * manner.people));
    const other = person(manner.people + (thread % 4));
    const letters: Letter[] = [];
    const count = 1 + Math.floor(random() ** 2 * manner.longest);
    let time = start + random() * 28 * 86_400_000;
    for (let index = 0; index < count; index += 1) {
      const parent = letters.length === 0 ? null : answered(letters, manner.isPrivate, random);
      const letter: Letter = {
        id: `${number}.${thread}.${index}@made.example`,
        from: author(manner, index, first, other, random),
        date: new Date((time += random() * 86_400_000)),
        subject: parent === null ? base : `${manner.mark(random)}${base}`,
        text: sentences(random, 2 + Math.floor(random() * 8)),
        references: parent === null ? [] : [...parent.references, parent.id],
      };
      letters.push(letter);
      threadOf.set(letter.id, thread);
      const quotation = parent === null ? '' : manner.quote(parent, random);
      const body =
        manner.quote === outlook
          ? `${letter.text}${quotation}`
          : `${quotation}${letter.text}\n\n-- \n${letter.from.name}\n${manner.footer}`;
      const to = manner.isPrivate && letter.from === other ? first.address : manner.to;
      const index22 = `${number}${thread}`.padEnd(22, 'x');
      raws.push(
        rawLetter(letter, to, body, [
          ...(parent === null
            ? []
            : [
                `In-Reply-To: <${parent.id}>`,
                `References: ${letter.references.map((id) => `<${id}>`).join('\r\n ')}`,
              ]),
          ...(manner.hasThreadIndex
            ? [`Thread-Index: ${Buffer.from(index22 + 'y'.repeat(5 * index)).toString('base64')}`]
            : []),
          ...(manner.footer === '' ? [] : ['List-Post: <mailto:dev@lists.example>']),
        ]),
      );
    }
  }
  return { name: manner.name, raws, threadOf };
}

/** Machines write the same subject every day, and strangers answer one text; each mail stands for itself. */
function notifications(): SyntheticArchive {
  const random = seededRandom(200);
  const template = sentences(random, 4);
  const threadOf = new Map<string, number>();
  const raws = Array.from({ length: 300 }, (_, index) => {
    const machine = index % 6;
    const letter: Letter = {
      id: `n.${index}@made.example`,
      from: { name: 'Monitor', address: `monitor${machine % 3}@machines.example` },
      date: new Date(Date.UTC(2026, 2, 1) + index * 7_200_000),
      subject: pick(['Backup report', 'Alert: disk is full', 'Re: your ticket', 'Hello'], random),
      text: `Host ${machine} reports the usual state of things.\n| disk | used |\n| sda${machine} | ${index} % |\n${sentences(random, 1)}`,
      references: [],
    };
    const isReply = letter.subject.startsWith('Re:');
    if (isReply || letter.subject === 'Hello') letter.from = person(500 + index);
    if (isReply) letter.text = `${sentences(random, 2)}\n\nThe shop wrote:\n${prefixed(template)}`;
    threadOf.set(letter.id, index);
    return rawLetter(letter, 'ops@office.example', letter.text, []);
  });
  return { name: 'notifications and strangers', raws, threadOf };
}

/** In private turns the last letter, else any, the newer the likelier. */
function answered(letters: readonly Letter[], isPrivate: boolean, random: () => number): Letter {
  return isPrivate ? letters.at(-1)! : letters[Math.floor(random() ** 0.5 * letters.length)]!;
}

function author(
  manner: Manner,
  index: number,
  first: Person,
  other: Person,
  random: () => number,
): Person {
  if (manner.isPrivate) return index % 2 === 0 ? first : other;
  return index === 0 ? first : person(Math.floor(random() * manner.people));
}

function rawLetter(letter: Letter, to: string, body: string, fields: string[]): Buffer {
  const head = [
    `From: ${letter.from.name} <${letter.from.address}>`,
    `To: ${to}`,
    `Subject: ${encoded(letter.subject)}`,
    `Date: ${letter.date.toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${letter.id}>`,
    ...fields,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body.replaceAll('\n', '\r\n')}\r\n`);
}

/** RFC 2047 encoded word where ASCII does not do. */
function encoded(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
}
