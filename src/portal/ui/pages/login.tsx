/** Login with a key of the account. */
import { useState } from 'preact/hooks';
import { send } from '../lib/api.ts';
import { Failure } from '../parts/states.tsx';

export function LoginPage({ onLogin }: { readonly onLogin: () => Promise<void> }) {
  const [key, setKey] = useState('');
  const [error, setError] = useState<unknown>();
  const login = async (): Promise<void> => {
    try {
      await send('/portal/login', { method: 'POST', body: JSON.stringify({ key }) });
      await onLogin();
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <main class="login">
      <h1>Mesocosm</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void login();
        }}
      >
        <label>
          A key of the account
          <input
            type="password"
            autocomplete="current-password"
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary">
          Log in
        </button>
        <p class="muted">
          The table that the server prints at its start has it, and so has{' '}
          <code>npx mesocosm keys list</code>. With a read-only key nothing can be changed here.
        </p>
        {error !== undefined && <Failure error={error} />}
      </form>
    </main>
  );
}
