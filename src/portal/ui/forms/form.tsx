/** A form in a dialog: sends once, shows the refusal, closes when it is done. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { isReadOnly, readOnlyReason } from '../lib/session.ts';
import { closeDialog, Dialog } from '../parts/dialogs.tsx';
import { Failure } from '../parts/states.tsx';

interface FormProps {
  readonly title: string;
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isComplete?: boolean;
  readonly isWide?: boolean;
  readonly onSubmit: () => Promise<void>;
  readonly children: ComponentChildren;
}

export function FormDialog({
  title,
  action,
  isDangerous,
  isComplete = true,
  isWide,
  onSubmit,
  children,
}: FormProps) {
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const submit = async (): Promise<void> => {
    setSending(true);
    setError(undefined);
    try {
      await onSubmit();
      closeDialog();
    } catch (refusal) {
      setError(refusal);
    } finally {
      setSending(false);
    }
  };
  return (
    <Dialog title={title} isWide={isWide === true}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {children}
        {error !== undefined && <Failure error={error} />}
        <footer>
          {readOnlyReason.value !== undefined && <span class="muted">{readOnlyReason.value}</span>}
          <button type="button" onClick={closeDialog}>
            Cancel
          </button>
          <button
            type="submit"
            class={isDangerous === true ? 'danger' : 'primary'}
            disabled={!isComplete || isSending || isReadOnly.value}
          >
            {isSending ? 'Working…' : action}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

export function TextField({
  label,
  value,
  onValue,
  hint,
  ...more
}: {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: string;
  readonly type?: 'text' | 'number';
  readonly list?: string;
  readonly placeholder?: string;
  readonly min?: number;
  readonly step?: number;
  readonly disabled?: boolean;
}) {
  return (
    <div class="field">
      <label>
        <span>{label}</span>
        <input
          type="text"
          {...more}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      </label>
      {hint !== undefined && <small>{hint}</small>}
    </div>
  );
}
