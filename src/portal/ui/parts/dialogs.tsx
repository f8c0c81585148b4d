/** Dialogs: one at a time, over the page; Escape closes them. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isGoing, isHelpOpen, isPaletteOpen } from '../lib/keyboard.ts';
import { GoHint, Help } from './help.tsx';
import { Palette } from './palette.tsx';

const open = signal<ComponentChildren | undefined>(undefined);

export function showDialog(content: ComponentChildren): void {
  open.value = content;
}

export function closeDialog(): void {
  open.value = undefined;
}

export function Dialogs() {
  return (
    <>
      {open.value}
      {isPaletteOpen.value && <Palette />}
      {isHelpOpen.value && <Help />}
      {isGoing.value && <GoHint />}
    </>
  );
}

interface DialogProps {
  readonly title: string;
  readonly onClose?: () => void;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose = closeDialog, isWide = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  // Before the next key: who types at once after opening a dialog must not lose a letter.
  useLayoutEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    // The first field, not the button that closes.
    element.current?.querySelector<HTMLElement>('input, select, textarea')?.focus();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return (
    <dialog ref={element} class={isWide ? 'wide' : ''} onClose={onClose} aria-label={title}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}
