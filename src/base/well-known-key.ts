/** The account key that every local emulator of the service has. It is public, so it protects nothing. */
export const WELL_KNOWN_KEY =
  'C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==';

/** The key of the account `devstoreaccount1` in emulators of Azure Storage. */
export const WELL_KNOWN_STORAGE_KEY =
  'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

/** True for the keys of emulators. A server that accepts one of them is open to everyone who can reach it. */
export function isPublicKey(key: string): boolean {
  return key === WELL_KNOWN_KEY || key === WELL_KNOWN_STORAGE_KEY;
}
