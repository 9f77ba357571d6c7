import { useEffect, useState } from 'preact/hooks';
import { learnTime } from './server-clock.ts';

export interface Live<T> {
  readonly state: T | null;
  /** `refused`: there is no such thing for this person; it is tried again all the same. */
  readonly link: 'opening' | 'live' | 'lost' | 'refused';
}

/** After a refusal: five to ten seconds, so that a crowd does not come back at once. */
const againMsMin = 5_000;
const againMsSpread = 5_000;

/**
 * Watch a live view. The browser comes back by itself after a broken connection. A page that nobody sees lets go of its
 * connection: a browser has few for one server, and all its tabs share them.
 */
export function useLive<T>(url: string): Live<T> {
  const [live, setLive] = useState<Live<T>>({ state: null, link: 'opening' });
  useEffect(() => {
    let source: EventSource | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    const close = (): void => {
      clearTimeout(again);
      source?.close();
      source = undefined;
    };
    const open = (): void => {
      close();
      const opened = new EventSource(url);
      source = opened;
      opened.addEventListener('clock', ({ data }) => {
        learnTime((JSON.parse(data) as { now: number }).now);
        setLive(({ state }) => ({ state, link: 'live' }));
      });
      opened.addEventListener('state', ({ data }) => setLive({ state: JSON.parse(data) as T, link: 'live' }));
      opened.onerror = () => {
        const isRefused = opened.readyState === EventSource.CLOSED;
        setLive(({ state }) => ({ state, link: isRefused ? 'refused' : 'lost' }));
        if (isRefused) again = setTimeout(open, againMsMin + Math.random() * againMsSpread);
      };
    };
    const follow = (): void => {
      if (document.visibilityState === 'hidden') close();
      else open();
    };
    setLive({ state: null, link: 'opening' });
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      close();
    };
  }, [url]);
  return live;
}
