/** Somebody saved the item meanwhile: what was loaded, what they have made of it, what I have. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialogs.tsx';

interface ConflictProps {
  readonly loaded: string;
  readonly theirs: string;
  readonly mine: string;
  readonly onTakeTheirs: () => void;
  readonly onSave: (text: string) => void;
}

export function Conflict({ loaded, theirs, mine, onTakeTheirs, onSave }: ConflictProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [merged, setMerged] = useState(mine);
  const [isLoadedShown, setLoadedShown] = useState(false);
  useEffect(() => {
    let close: (() => void) | undefined;
    void import('../../editor/merge-view.ts').then(({ openMerge }) => {
      if (frame.current !== null)
        close = openMerge({ parent: frame.current, theirs, mine, onChange: setMerged }).close;
    });
    return () => close?.();
  }, [theirs]);
  return (
    <Dialog title="Changed by somebody else" isWide>
      <p>
        The item was saved by somebody after you loaded it. Left is <strong>theirs</strong>, right
        is <strong>yours</strong>: edit the right side until it is as it should be. Saving replaces
        the version on the left and no later one.
      </p>
      <div class="editor merge" ref={frame} />
      <p>
        <button
          type="button"
          class="quiet"
          aria-expanded={isLoadedShown}
          onClick={() => setLoadedShown(!isLoadedShown)}
        >
          What was loaded
        </button>
      </p>
      {isLoadedShown && <pre tabIndex={0}>{loaded}</pre>}
      <footer>
        <button type="button" onClick={onTakeTheirs}>
          Take theirs
        </button>
        <button type="button" class="danger" onClick={() => onSave(mine)}>
          Overwrite theirs
        </button>
        <button type="button" class="primary" onClick={() => onSave(merged)}>
          Save merged
        </button>
      </footer>
    </Dialog>
  );
}
