/** How mail programs of one language introduce the mail that is answered. */
export interface AttributionLanguage {
  /** BCP 47 primary subtag. */
  language: string;
  /** The verb, as it stands at the end of the line or before the name ("schrieb Anna <…>:"). */
  verb: RegExp;
  /** Words that the line must begin with where the verb alone is everyday prose; null where the verb suffices. */
  opener: RegExp | null;
}

/**
 * Verbs carry the recognition, because their position differs between programs while the words do not. Names, dates
 * and addresses around them are free. Ordered so that a verb contained in another language's phrase comes later.
 */
export const ATTRIBUTION_LANGUAGES: readonly AttributionLanguage[] = [
  {
    language: 'en',
    opener: /^(?:[-–—* ]{0,12})On[ \u00a0,]/i,
    verb: /\b(?:wrote|sent|said|writes)\b/i,
  },
  {
    language: 'de',
    opener: null,
    verb: /(?:^|[\s,>"])(?:schrieb(?:en)?|geschrieben|hat geschrieben)(?=$|[\s:,<"])/i,
  },
  { language: 'fr', opener: /^(?:Le|En date|Date)\b/i, verb: /(?:a|à)?\s?[ée]crit\b/iu },
  {
    language: 'es',
    opener: /^(?:El|En|Con fecha|A las)\b/i,
    verb: /escribi[óo](?=$|[\s:,<])|ha escrito/iu,
  },
  { language: 'ca', opener: /^(?:El|Missatge)\b/i, verb: /va escriure|ha escrit/i },
  { language: 'pt', opener: null, verb: /(?:escreveu|escreve)(?=$|[\s:,<(])/i },
  { language: 'gl', opener: /^(?:O|En)\b/i, verb: /escribiu/i },
  { language: 'it', opener: null, verb: /ha scritto|scrisse|ha inviato|scrive(?=\s*:)/i },
  { language: 'ro', opener: null, verb: /\ba scris\b/i },
  { language: 'nl', opener: null, verb: /\b(?:schreef|geschreven|schreven)\b/i },
  {
    language: 'sv',
    opener: /^(?:Den|På|Vid|mån|tis|ons|tors?|fre|lör|sön|\d)/iu,
    verb: /\bskrev\b(?=[\s\S]*$)/i,
  },
  { language: 'da', opener: null, verb: /\b(?:skrev|har skrevet|følgende)\b/i },
  { language: 'is', opener: null, verb: /skrifaði/i },
  { language: 'fi', opener: null, verb: /kirjoitti/i },
  { language: 'et', opener: null, verb: /kirjutas/i },
  { language: 'pl', opener: null, verb: /napisa[łl]\(?a?\)?|napisali|pisze(?=\s*:)/iu },
  { language: 'cs', opener: null, verb: /napsala?(?=$|[\s:(,])|napsal\(a\)/i },
  { language: 'sk', opener: null, verb: /nap[íi]sal\(?a?\)?/iu },
  { language: 'hr', opener: null, verb: /(?:je )?napisao(?:\/la)?|napisala je|je napisala/i },
  { language: 'sr', opener: null, verb: /(?:је )?написао(?:\/ла)?|написала је/iu },
  { language: 'sl', opener: null, verb: /je napisal(?:[/-]?a)?/i },
  { language: 'hu', opener: null, verb: /(?:ezt )?írta/iu },
  { language: 'lt', opener: null, verb: /rašė/iu },
  { language: 'lv', opener: null, verb: /rakstīja/iu },
  { language: 'ru', opener: null, verb: /написал\(?а?\)?|писал\(?а?\)?(?=\s*:)|пишет/iu },
  {
    language: 'uk',
    opener: null,
    verb: /(?:на)?пише(?=\s*:|$)|написа(?:в|ла)(?:\([а-яіїє]+\))?/iu,
  },
  { language: 'bg', opener: null, verb: /написа(?=$|[\s:])/iu },
  { language: 'el', opener: null, verb: /έγραψε/iu },
  { language: 'tr', opener: null, verb: /(?:şunu|şunları) yazdı|yazdı|tarihinde.{0,120}yazmış/iu },
  { language: 'he', opener: null, verb: /כתבה?|‫?מאת(?=[^\n]{0,120}:)/u },
  { language: 'ar', opener: null, verb: /كتبت?|كتب\/ت|تمت كتابة ما يلي/u },
  { language: 'fa', opener: null, verb: /نوشت(?:ه است)?/u },
  { language: 'ur', opener: null, verb: /نے لکھا|لکھا/u },
  { language: 'hi', opener: null, verb: /(?:ने )?लिखा(?: था| है)?/u },
  { language: 'mr', opener: null, verb: /लिहिले|लिहिलं|यांनी लिह/u },
  { language: 'ne', opener: null, verb: /लेख्नुभ|लेखे/u },
  { language: 'bn', opener: null, verb: /লিখেছে(?:ন|ছিলেন)?|লিখেছিলেন|লিখেন/u },
  { language: 'as', opener: null, verb: /লিখিছে|লিখিছিল/u },
  { language: 'gu', opener: null, verb: /લખ્યું|લખે છે/u },
  { language: 'pa', opener: null, verb: /ਲਿਖਿਆ/u },
  { language: 'or', opener: null, verb: /ଲେଖିଛନ୍ତି|ଲେଖିଥିଲେ/u },
  { language: 'ta', opener: null, verb: /எழுதினார்|எழுதியது|எழுதினர்|எழுதியுள்ளார்|எழுதியவை/u },
  { language: 'te', opener: null, verb: /వ్రాశారు|రాశారు|వ్రాసారు|రాసారు|వ్రాసింది/u },
  { language: 'kn', opener: null, verb: /ಬರೆದಿದ್ದಾರೆ|ಬರೆದರು/u },
  { language: 'ml', opener: null, verb: /എഴുതി(?:യത്)?/u },
  { language: 'si', opener: null, verb: /ලිව්වේය|ලිවීය/u },
  { language: 'vi', opener: null, verb: /(?:đã )?viết/iu },
  { language: 'th', opener: null, verb: /เขียน(?:ว่า)?/u },
  { language: 'id', opener: /^(?:Pada|Tanggal|Di)\b/i, verb: /menulis|tulis/i },
  { language: 'zh', opener: null, verb: /[写寫]道|[写寫]了|[写寫]信|编写|撰寫|撰写/u },
  { language: 'ja', opener: null, verb: /書きました|のメール|のメッセージ|さんは/u },
  { language: 'ko', opener: null, verb: /작성(?:했습니다)?|썼습니다|님이 쓴|쓰셨습니다/u },
];
