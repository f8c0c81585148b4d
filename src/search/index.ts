export { bm25, type TextStatistics } from './bm25.ts';
export { SearchIndexes, SearchMemory, type SearchSpec } from './search-indexes.ts';
export { TextIndex } from './text-index.ts';
export { type TextLanguage, textLanguage } from './text-libraries.ts';
export { type VectorDistance, VectorIndex, type VectorSpec } from './vector-index.ts';
export { loadVectorLibrary, type VectorLibrary } from './vector-library.ts';
export { countContentWords, tokenize } from './words.ts';
