/** Shows progress on a terminal when a command takes longer than a second; scripts see nothing of it. */
const QUIET_MS = 1000;

interface ProgressTerminal {
  readonly isInteractive: boolean;
  error(text: string): void;
}

export async function withProgress<T>(
  work: Promise<T>,
  label: string,
  terminal: ProgressTerminal,
): Promise<T> {
  if (!terminal.isInteractive) return work;
  let seconds = 0;
  const timer = setInterval(() => {
    seconds++;
    terminal.error(`\r${label} … ${seconds} s`);
  }, QUIET_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    // Carriage return and "erase to the end of the line".
    if (seconds > 0) terminal.error('\r\u001b[K');
  }
}
