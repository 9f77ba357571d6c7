import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const moved = 'lapse:moved';

/** Go to another view of this page without loading it anew. */
export function navigate(path: string): void {
  history.pushState(null, '', path);
  dispatchEvent(new Event(moved));
  scrollTo(0, 0);
}

/** The address now, query included. */
export function useAddress(): URL {
  const [href, setHref] = useState(location.href);
  useEffect(() => {
    const follow = (): void => setHref(location.href);
    addEventListener('popstate', follow);
    addEventListener(moved, follow);
    return () => {
      removeEventListener('popstate', follow);
      removeEventListener(moved, follow);
    };
  }, []);
  return new URL(href);
}

interface LinkProps {
  readonly to: string;
  readonly class?: string;
  readonly children: ComponentChildren;
  readonly 'aria-current'?: 'page' | undefined;
}

/** A real link: opens in a new tab where the person wants that. */
export function Link({ to, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a href={to} onClick={follow} {...rest}>
      {children}
    </a>
  );
}
