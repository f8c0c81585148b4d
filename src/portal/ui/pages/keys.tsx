/** Keys, connection strings, and programs to paste. */
import { useState } from 'preact/hooks';
import { overview } from '../lib/account.ts';
import { ask, post } from '../lib/api.ts';
import { apiName } from '../lib/format.ts';
import { useLoaded } from '../lib/loaded.ts';
import { isReadOnly } from '../lib/session.ts';
import type { ApiId, Snippet } from '../lib/types.ts';
import { CopyButton } from '../parts/copy.tsx';
import { closeDialog, Dialog, showDialog } from '../parts/dialogs.tsx';
import { WriteButton } from '../parts/shell.tsx';
import { Await } from '../parts/states.tsx';

const NAMES: Readonly<Record<string, string>> = {
  primary: 'Primary',
  secondary: 'Secondary',
  primaryReadonly: 'Primary, read-only',
  secondaryReadonly: 'Secondary, read-only',
};

export function KeysPage() {
  return (
    <>
      <header class="title">
        <h1>Keys</h1>
      </header>
      {isReadOnly.value ? (
        <p class="muted">Keys are shown to those who may write.</p>
      ) : (
        <KeyTable />
      )}
      <Snippets />
    </>
  );
}

function KeyTable() {
  const keys = useLoaded(() => ask<Readonly<Record<string, string>>>('keys'), []);
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set());
  const toggle = (name: string): void => {
    const next = new Set(shown);
    if (!next.delete(name)) next.add(name);
    setShown(next);
  };
  return (
    <Await loaded={keys} what="the keys">
      {(known) => (
        <>
          <table class="list">
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Value</th>
                <th scope="col">
                  <span class="offscreen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {Object.entries(known).map(([name, key]) => (
                <tr key={name}>
                  <th scope="row">{NAMES[name] ?? name}</th>
                  <td>
                    <code class="break">{shown.has(name) ? key : '•'.repeat(24)}</code>
                  </td>
                  <td class="row">
                    <button type="button" class="quiet" onClick={() => toggle(name)}>
                      {shown.has(name) ? 'Hide' : 'Reveal'}
                    </button>
                    <CopyButton text={key} />
                    <WriteButton
                      class="quiet"
                      onClick={() => showDialog(<Rotate name={name} onDone={keys.reload} />)}
                    >
                      Rotate…
                    </WriteButton>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <ConnectionStrings primary={known.primary ?? ''} />
        </>
      )}
    </Await>
  );
}

function Rotate({ name, onDone }: { readonly name: string; readonly onDone: () => void }) {
  const rotate = async (): Promise<void> => {
    await post('keys/rotate', { key: name });
    onDone();
    closeDialog();
  };
  return (
    <Dialog title={`Rotate: ${NAMES[name] ?? name}`}>
      <p>
        A new key takes its place at once. Clients that use the old one are refused from then on.
      </p>
      <footer>
        <button type="button" onClick={closeDialog}>
          Cancel
        </button>
        <WriteButton class="danger" onClick={() => void rotate()}>
          Rotate
        </WriteButton>
      </footer>
    </Dialog>
  );
}

function ConnectionStrings({ primary }: { readonly primary: string }) {
  const apis = overview.value?.apis.filter(({ endpoint }) => endpoint !== null) ?? [];
  return (
    <section class="card">
      <h2>Connection strings</h2>
      <table class="plain">
        <tbody>
          {apis.map(({ api, endpoint }) => (
            <tr key={api}>
              <th scope="row">{apiName(api)}</th>
              <td>
                <code class="break">{connectionString(api, endpoint ?? '', '…')}</code>
              </td>
              <td>
                <CopyButton
                  text={connectionString(api, endpoint ?? '', primary)}
                  label="Copy with key"
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function connectionString(api: ApiId, endpoint: string, key: string): string {
  switch (api) {
    case 'table': {
      const [scheme] = endpoint.split(':');
      return `DefaultEndpointsProtocol=${scheme};AccountName=devstoreaccount1;AccountKey=${key};TableEndpoint=${endpoint}devstoreaccount1;`;
    }
    case 'mongo': {
      const [place = '', options = ''] = endpoint.slice('mongodb://'.length).split('/?');
      const more = options === '' ? '' : `&${options}`;
      return `mongodb://localhost:${key === '…' ? key : encodeURIComponent(key)}@${place.replace(/\/$/, '')}/?directConnection=true${more}`;
    }
    case 'cassandra': {
      const colon = endpoint.lastIndexOf(':');
      return `HostName=${endpoint.slice(0, colon)};Port=${endpoint.slice(colon + 1)};Username=localhost;Password=${key};`;
    }
    case 'gremlin':
      return `AccountEndpoint=${endpoint};AccountKey=${key};ApiKind=Gremlin;`;
    default:
      return `AccountEndpoint=${endpoint};AccountKey=${key};`;
  }
}

function Snippets() {
  const apis = overview.value?.apis.filter(({ endpoint }) => endpoint !== null) ?? [];
  const containers = overview.value?.containers ?? [];
  const [api, setApi] = useState<ApiId>('nosql');
  const [language, setLanguage] = useState('javascript');
  const first = containers.find((row) => row.api === api) ?? containers[0];
  const names = { db: first?.db ?? 'shop', container: first?.container ?? 'orders' };
  const snippet = useLoaded(
    () => ask<Snippet>('snippets', { api, language, ...names }),
    [api, language, names.db, names.container],
  );
  return (
    <section class="card">
      <h2 class="row">
        Programs to paste
        <select
          aria-label="API"
          value={api}
          onChange={(event) => {
            setApi(event.currentTarget.value as ApiId);
            setLanguage('javascript');
          }}
        >
          {apis.map((known) => (
            <option key={known.api} value={known.api}>
              {apiName(known.api)}
            </option>
          ))}
        </select>
        <select
          aria-label="Language"
          value={language}
          onChange={(event) => setLanguage(event.currentTarget.value)}
        >
          {(snippet.value?.languages ?? ['javascript']).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </h2>
      <Await loaded={snippet} what="the program">
        {({ text, packages }) => (
          <>
            {packages !== '' && (
              <p class="row">
                <code>{packages}</code> <CopyButton text={packages} />
              </p>
            )}
            <pre tabIndex={0} role="region" aria-label="Program">
              {text}
            </pre>
            <p class="row">
              <CopyButton text={text} />{' '}
              <span class="muted">The key comes from the variable MESOCOSM_KEY.</span>
            </p>
          </>
        )}
      </Await>
    </section>
  );
}
