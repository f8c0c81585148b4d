export { bm25, type TextStatistics } from './bm25.ts';
export { SearchIndexes, SearchMemory, type SearchSpec } from './search-indexes.ts';
export { stemmerNamed, stopWordsOf, type TextLanguage, textLanguage } from './text-libraries.ts';
export type { VectorDistance, VectorSpec } from './vector-index.ts';
export { countContentWords, tokenize } from './words.ts';
