export { createPortal, type Portal, type PortalDoors } from './portal.ts';
