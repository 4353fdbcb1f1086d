import { franc } from 'franc-min';

/** Characters that suffice; less than {@link MIN_LENGTH} says nothing. */
const MAX_LENGTH = 2_000;
const MIN_LENGTH = 20;

/** ISO 639-3 as the detector says it, and ISO 639-1 as people write it; others keep three letters. */
const TWO_LETTERS = pairs(`
  cmn zh spa es eng en rus ru arb ar ben bn hin hi por pt ind id jpn ja fra fr deu de jav jv kor ko tel te
  vie vi mar mr ita it tam ta tur tr urd ur guj gu pol pl ukr uk kan kn mal ml pes fa pan pa swh sw sun su
  ron ro hau ha fuv ff bos bs hrv hr nld nl srp sr tha th ckb ku yor yo uzn uz zlm ms ibo ig npi ne tgl tl
  hun hu azj az sin si ell el ces cs run rn bel be plt mg qug qu nya ny zyb za kin rw zul zu bul bg swe sv
  som so kaz kk mya my amh am`);

/**
 * Common words that distinguish these languages: a mail is often too short for the
 * statistics of letters, which take "Where is my order?" for Dutch.
 */
const COMMON_WORDS: readonly (readonly [string, ReadonlySet<string>])[] = [
  ['en', 'the and is my you your have been this that with please what where are for it from of we'],
  ['de', 'und der ist nicht ich sie mit das ein eine für bitte auf wie wir noch haben wird bei'],
  ['fr', 'et le les est je vous pour pas une dans avec nous bonjour sur votre mon cette être qui'],
  ['es', 'el los está por una para con mi usted hola pero muy qué tengo hace desde gracias las'],
  ['pt', 'não o uma com você para meu minha obrigado está eu os ao mais olá pedido foi pelo'],
  ['it', 'il che di non sono per una con mio grazie è ho della buongiorno gli questo mia vorrei'],
  ['nl', 'het een ik niet van zijn met mijn voor waar hebben wij maar jullie bestelling dit wordt'],
  ['sv', 'och att är jag inte på ett för som med har min var ni hej när från'],
  ['da', 'og jeg ikke er på hvor til mit af hej har det når fra som'],
  ['pl', 'nie się jest na moje jak czy proszę dzień gdzie od mam dla już'],
  ['tr', 've bir bu için ben değil nerede merhaba siparişim çok daha ne var'],
  ['id', 'yang dan saya tidak ini untuk dengan di mana pesanan sudah dari anda'],
].map(([code, words]) => [code!, new Set(words!.split(' '))] as const);
const CLEAR_LEAD = 2;

/** ISO 639-1, three letters of ISO 639-3 where there are no two; null if the text is inconclusive. */
export function detectLanguage(text: string | null): string | null {
  if (text === null || text.trim().length < MIN_LENGTH) return null;
  const beginning = text.slice(0, MAX_LENGTH);
  const byWords = languageOfWords(beginning);
  if (byWords !== null) return byWords;
  const code = franc(beginning, { minLength: MIN_LENGTH });
  return code === 'und' ? null : (TWO_LETTERS.get(code) ?? code);
}

/** The language whose common words are there most, if it leads clearly. */
function languageOfWords(text: string): string | null {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counts = COMMON_WORDS.map(([code, common]) => ({
    code,
    count: words.filter((word) => common.has(word)).length,
  })).sort((a, b) => b.count - a.count);
  const [first, second] = counts;
  return first!.count >= second!.count + CLEAR_LEAD ? first!.code : null;
}

function pairs(text: string): ReadonlyMap<string, string> {
  const words = text.trim().split(/\s+/);
  return new Map(
    words.flatMap((word, index) => (index % 2 === 0 ? [[word, words[index + 1]!] as const] : [])),
  );
}
