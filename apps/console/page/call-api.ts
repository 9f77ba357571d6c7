import type { ProblemView } from '@lapse/contracts';

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  /** `problem` null: nobody answered, so what was asked may or may not have been done. */
  | { readonly ok: false; readonly problem: ProblemView | null };

export interface CallOptions {
  readonly body?: unknown;
  /** Makes a repeat of the same request harmless. */
  readonly key?: string;
}

/** Ask the page's own server. Expected refusals are answers, not errors. */
export async function callApi<T>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  { body, key }: CallOptions = {},
): Promise<Answer<T>> {
  try {
    const response = await fetch(path, {
      method,
      headers: {
        'accept-language': document.documentElement.lang,
        ...(method !== 'GET' && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }),
    });
    const answer: unknown = await response.json();
    return response.ok ? { ok: true, value: answer as T } : { ok: false, problem: answer as ProblemView };
  } catch {
    return { ok: false, problem: null };
  }
}
