/** The editor, loaded when it is first shown. Until then a plain text field takes its place. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
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
      const field = document.activeElement;
      const cursor =
        field instanceof HTMLTextAreaElement && frame.current.contains(field)
          ? field.selectionStart
          : undefined;
      handle.current = openEditor({
        ...latest.current,
        parent: frame.current,
        onChange: (value) => latest.current.onChange(value),
        onRun: () => latest.current.onRun?.(),
        onSave: () => latest.current.onSave?.(),
      });
      setReady(true);
      // Who has begun to type in the plain field goes on typing.
      if (cursor !== undefined) handle.current.focus(cursor);
    });
    return () => {
      isGone = true;
      handle.current?.close();
    };
  }, [props.language, props.isReadOnly]);
  // At once: a frame later there may be more in the editor, which an older value would take away.
  useLayoutEffect(() => handle.current?.setValue(props.value), [props.value]);
  useEffect(() => handle.current?.setWords(props.words ?? []), [props.words]);
  return (
    <div class="editor" ref={frame}>
      {!isReady && (
        <textarea
          aria-label={props.label}
          value={props.value}
          onInput={(event) => props.onChange(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (!event.ctrlKey && !event.metaKey) return;
            if (event.key === 'Enter') props.onRun?.();
            else if (event.key === 's' && props.onSave !== undefined) props.onSave();
            else return;
            event.preventDefault();
          }}
        />
      )}
    </div>
  );
}
