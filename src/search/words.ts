/**
 * Splits texts into words and reduces them to their stems. The rules for words, and the English stop words, follow
 * from the scores in the reference service's public tests; they are not documented. Other languages have the stop
 * words of a library.
 */
import { loadStemmer, loadStopWords, type TextLanguage } from './text-libraries.ts';

/** ASCII punctuation and spaces separate words. All characters beyond ASCII belong to words, dashes too. */
const WORD = /[a-z0-9\u0080-\uffff]+/g;

export function tokenize(text: string, language: TextLanguage = 'en'): readonly string[] {
  const { stemOf } = languageOf(language);
  return plainWords(text).map(stemOf);
}

function plainWords(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

/** The length of a text for its score: the words that are not stop words. */
export function countContentWords(text: string, language: TextLanguage = 'en'): number {
  const { stopWords } = languageOf(language);
  let count = 0;
  for (const word of plainWords(text)) if (!stopWords.has(word)) count++;
  return count;
}

interface Language {
  readonly stemOf: (word: string) => string;
  readonly stopWords: ReadonlySet<string>;
}

const languages = new Map<TextLanguage, Language>();

/** Cached stems per language. Texts repeat their words, and stemming costs as much as hundreds of lookups. */
const STEMS_MAX = 50_000;

function languageOf(language: TextLanguage): Language {
  let found = languages.get(language);
  if (found === undefined) {
    const stopWords = language === 'en' ? STOP_WORDS : loadStopWords(language);
    found = { stemOf: cached(loadStemmer(language)), stopWords };
    languages.set(language, found);
  }
  return found;
}

function cached(stemOf: (word: string) => string): (word: string) => string {
  const stems = new Map<string, string>();
  return (word) => {
    let stem = stems.get(word);
    if (stem === undefined) {
      stem = stemOf(word);
      if (stems.size >= STEMS_MAX) stems.clear();
      stems.set(word, stem);
    }
    return stem;
  };
}

/** The common English list of the Glasgow information retrieval group. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `
a about above across after afterwards again against all almost alone along already also although
always am among amongst amoungst amount an and another any anyhow anyone anything anyway
anywhere are around as at back be became because become becomes becoming been before beforehand
behind being below beside besides between beyond bill both bottom but by call can cannot cant co
con could couldnt cry de describe detail do done down due during each eg eight either eleven
else elsewhere empty enough etc even ever every everyone everything everywhere except few
fifteen fifty fill find fire first five for former formerly forty found four from front full
further get give go had has hasnt have he hence her here hereafter hereby herein hereupon hers
herself him himself his how however hundred i ie if in inc indeed interest into is it its itself
keep last latter latterly least less ltd made many may me meanwhile might mill mine more
moreover most mostly move much must my myself name namely neither never nevertheless next nine
no nobody none noone nor not nothing now nowhere of off often on once one only onto or other
others otherwise our ours ourselves out over own part per perhaps please put rather re same see
seem seemed seeming seems serious several she should show side since sincere six sixty so some
somehow someone something sometime sometimes somewhere still such system take ten than that the
their them themselves then thence there thereafter thereby therefore therein thereupon these
they thick thin third this those though three through throughout thru thus to together too top
toward towards twelve twenty two un under until up upon us very via was we well were what
whatever when whence whenever where whereafter whereas whereby wherein whereupon wherever
whether which while whither who whoever whole whom whose why will with within without would yet
you your yours yourself yourselves
`
    .trim()
    .split(/\s+/),
);
