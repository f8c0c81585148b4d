/** The MongoDB whose language and wire protocol are spoken; clients decide by it. */
export const SERVER_VERSION = '8.0.0';

/** 8.0. Drivers refuse less than 9. */
export const WIRE_VERSION = 25;
