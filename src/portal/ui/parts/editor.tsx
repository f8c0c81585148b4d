/** The editor, loaded when it is first shown. Until then a plain text field takes its place. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { EditorHandle, EditorSettings } from '../editor/code-editor.ts';

export interface EditorProps extends Omit<EditorSettings, 'parent' | 'value' | 'onChange'> {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function Editor(props: EditorProps) {
  const frame = useRef<HTMLDivElement>(null);
  const handle = useRef<EditorHandle | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    let isGone = false;
    void import('../editor/code-editor.ts').then(({ openEditor }) => {
      if (isGone || frame.current === null) return;
      handle.current = openEditor({
        ...latest.current,
        parent: frame.current,
        onChange: (value) => latest.current.onChange(value),
        onRun: () => latest.current.onRun?.(),
        onSave: () => latest.current.onSave?.(),
      });
      setReady(true);
    });
    return () => {
      isGone = true;
      handle.current?.close();
    };
  }, [props.language, props.isReadOnly]);
  useEffect(() => handle.current?.setValue(props.value), [props.value]);
  useEffect(() => handle.current?.setWords(props.words ?? []), [props.words]);
  return (
    <div class="editor" ref={frame}>
      {!isReady && (
        <textarea
          aria-label={props.label}
          value={props.value}
          onInput={(event) => props.onChange(event.currentTarget.value)}
        />
      )}
    </div>
  );
}
