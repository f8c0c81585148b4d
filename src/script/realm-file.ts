/** The file name of our own code in a sandbox: its frames are left out of stack traces. */
export const GUEST_FILE = 'guest.js';
