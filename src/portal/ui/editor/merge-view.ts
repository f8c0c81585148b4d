/** Two texts side by side with their differences; the right one is edited. */
import { MergeView } from '@codemirror/merge';
import { EditorView } from '@codemirror/view';
import { baseExtensions, type EditorHandle } from './code-editor.ts';

interface MergeSettings {
  readonly parent: HTMLElement;
  readonly theirs: string;
  readonly mine: string;
  readonly onChange: (mine: string) => void;
}

export function openMerge({
  parent,
  theirs,
  mine,
  onChange,
}: MergeSettings): Pick<EditorHandle, 'close'> {
  const view = new MergeView({
    parent,
    a: {
      doc: theirs,
      extensions: baseExtensions({ language: 'json', label: 'Their version', isReadOnly: true }),
    },
    b: {
      doc: mine,
      extensions: [
        ...baseExtensions({ language: 'json', label: 'My version' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    },
    revertControls: 'a-to-b',
  });
  return { close: () => view.destroy() };
}
