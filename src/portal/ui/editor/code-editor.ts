/** CodeMirror, set up for this page: its styles carry the nonce of the page and its colours come from our tokens. */
import {
  autocompletion,
  type CompletionContext,
  closeBrackets,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  ViewPlugin,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';

export type Language = 'sql' | 'cql' | 'json' | 'javascript' | 'groovy' | 'text';

export interface EditorSettings {
  readonly parent: HTMLElement;
  readonly value: string;
  readonly language: Language;
  readonly label: string;
  readonly isReadOnly?: boolean;
  /** Offered while one types. */
  readonly words?: readonly string[];
  readonly onChange: (value: string) => void;
  readonly onRun?: () => void;
  readonly onSave?: () => void;
}

export interface EditorHandle {
  setValue(value: string): void;
  setWords(words: readonly string[]): void;
  /** Takes the focus, with the cursor at this place. */
  focus(at: number): void;
  close(): void;
}

export function openEditor(settings: EditorSettings): EditorHandle {
  const completion = new Compartment();
  const view = new EditorView({
    parent: settings.parent,
    state: EditorState.create({
      doc: settings.value,
      extensions: [
        ...baseExtensions(settings),
        completion.of(completionOf(settings.words ?? [])),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) settings.onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  // A region that scrolls must be reachable with keys.
  view.scrollDOM.tabIndex = 0;
  return {
    setValue(value) {
      if (value === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
    },
    setWords(words) {
      view.dispatch({ effects: completion.reconfigure(completionOf(words)) });
    },
    focus(at) {
      view.dispatch({ selection: { anchor: Math.min(at, view.state.doc.length) } });
      view.focus();
    },
    close: () => view.destroy(),
  };
}

/** Shared with the three-way view of a conflict. */
export function baseExtensions(
  settings: Pick<EditorSettings, 'language' | 'label' | 'isReadOnly' | 'onRun' | 'onSave'>,
): Extension[] {
  const { language, label, isReadOnly = false, onRun, onSave } = settings;
  const command = (run: (() => void) | undefined) => () => {
    run?.();
    return run !== undefined;
  };
  return [
    EditorView.cspNonce.of(styleNonce()),
    keymap.of([
      { key: 'Mod-Enter', run: command(onRun), preventDefault: true },
      { key: 'Mod-s', run: command(onSave), preventDefault: true },
    ]),
    lineNumbers(),
    history(),
    drawSelection(),
    replaceSelection(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
    languageOf(language),
    syntaxHighlighting(HIGHLIGHT),
    THEME,
    EditorView.lineWrapping,
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({ 'aria-label': label }),
  ];
}

/**
 * A browser that types over coloured text gives what is typed the old colour as an inline style, which the policy of the
 * page refuses and the console reports. Here the editor replaces the text itself.
 */
function replaceSelection(): Extension {
  return EditorView.domEventHandlers({
    beforeinput(event, view) {
      const { from, to, empty } = view.state.selection.main;
      const { data, inputType } = event;
      const isTyped = inputType === 'insertText' && data !== null && !view.composing;
      if (!isTyped || empty || view.state.readOnly || view.state.selection.ranges.length > 1)
        return false;
      const insert = () =>
        view.state.update(view.state.replaceSelection(data), {
          userEvent: 'input.type',
          scrollIntoView: true,
        });
      const handlers = view.state.facet(EditorView.inputHandler);
      if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
      event.preventDefault();
      return true;
    },
  });
}

function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '';
}

/** The language comes when it is there: each is a file of its own, and the editor works without. */
function languageOf(language: Language): Extension {
  const place = new Compartment();
  return [
    place.of([]),
    ViewPlugin.define((view) => {
      void loadLanguage(language).then((extension) =>
        view.dispatch({ effects: place.reconfigure(extension) }),
      );
      return {};
    }),
  ];
}

async function loadLanguage(language: Language): Promise<Extension> {
  switch (language) {
    case 'sql':
      return (await import('./languages/sql.ts')).plainSql();
    case 'cql':
      return (await import('./languages/sql.ts')).cassandraSql();
    case 'json':
      return (await import('./languages/json.ts')).checkedJson();
    case 'javascript':
      return (await import('./languages/javascript.ts')).plainJavascript();
    case 'groovy':
      return (await import('./languages/groovy.ts')).plainGroovy();
    case 'text':
      return [];
    default:
      return language satisfies never;
  }
}

function completionOf(words: readonly string[]): Extension {
  if (words.length === 0) return [];
  const options = words.map((label) => ({ label }));
  const source = (context: CompletionContext) => {
    const before = context.matchBefore(/[\w$.]+/);
    if (before === null && !context.explicit) return null;
    return { from: before?.from ?? context.pos, options, validFor: /^[\w$.]*$/ };
  };
  return autocompletion({ override: [source] });
}

const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.propertyName, tags.typeName], color: 'var(--code-name)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
]);

const THEME = EditorView.theme({
  '&': { backgroundColor: 'var(--field)', color: 'var(--ink)', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--accent)' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--field)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    {
      backgroundColor: 'var(--selection) !important',
    },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
});
