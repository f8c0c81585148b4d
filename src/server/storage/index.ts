export { openStorage, type Storage } from './open-storage.ts';
