/** The fence of one open store: who has the current one may write. */

/** What an opening returned. */
export interface Opened {
  readonly id: number;
  readonly fence: number;
  /** The fence is that of an earlier opening: the first commit needs a new one. */
  readonly isForReads?: boolean;
}

interface FenceParts {
  readonly opened: Opened;
  /** Opens the store again, with a new fence. */
  readonly reopen: () => Promise<Opened>;
  /** Another node has taken over: this one never writes again. */
  readonly isTaken: () => boolean;
  /** Called when that is found out. */
  readonly onTaken: () => void;
}

export class PostgresFence {
  readonly storeId: number;
  readonly #parts: FenceParts;
  #number: number;
  #isForReads: boolean;
  #isLost = false;

  constructor(parts: FenceParts) {
    const { opened } = parts;
    this.#parts = parts;
    this.storeId = opened.id;
    this.#number = opened.fence;
    this.#isForReads = opened.isForReads === true;
  }

  get number(): number {
    return this.#number;
  }

  /** A commit of unknown outcome may still land: nothing is read or written before there is a new one. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Commits may be sent with it. */
  get isValid(): boolean {
    return !this.#isLost && !this.#isForReads;
  }

  get isTaken(): boolean {
    return this.#parts.isTaken();
  }

  lose(): void {
    this.#isLost = true;
  }

  take(): void {
    this.#parts.onTaken();
  }

  /** After it, no earlier commit can land, and the quorum has all that is read. */
  async renew(): Promise<void> {
    const { fence } = await this.#parts.reopen();
    this.#number = fence;
    this.#isLost = false;
    this.#isForReads = false;
  }
}
