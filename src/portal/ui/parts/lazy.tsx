/** A component that is loaded when it is first shown. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Failure, Loading } from './states.tsx';

type LazyProps<P> = P & { readonly load: () => Promise<ComponentType<P>> };

export function Lazy<P extends object>({ load, ...props }: LazyProps<P>) {
  const [loaded, setLoaded] = useState<{ readonly component: ComponentType<P> }>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    load().then((component) => setLoaded({ component }), setError);
  }, []);
  if (error !== undefined) return <Failure error={error} />;
  if (loaded === undefined) return <Loading what="this part" />;
  const Component = loaded.component;
  return <Component {...(props as unknown as P)} />;
}
