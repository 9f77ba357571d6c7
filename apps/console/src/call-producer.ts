/** Most of an answer that is read: a page of 200 rows is well below. */
const answerBytesMax = 2_000_000;

export interface ProducerRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ProducerAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | null;
  readonly body: string;
}

export type CallProducer = (request: ProducerRequest) => Promise<ProducerAnswer>;

/** The API does not answer, or not in time. What it was asked may have been done: the same key makes a repeat safe. */
export class ProducerAwayError extends Error {
  readonly code = 'LAPSE_PRODUCER_AWAY';
  override readonly name = 'ProducerAwayError';
}

/** Calls of the API, each within its time and bounded in size. */
export function openProducer({
  url,
  timeoutMs,
}: {
  readonly url: string;
  readonly timeoutMs: number;
}): CallProducer {
  return async ({ method, path, token, body, headers }) => {
    try {
      const response = await fetch(new URL(path, url), {
        method,
        headers: {
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      return {
        status: response.status,
        contentType: response.headers.get('content-type') ?? 'application/json',
        retryAfter: response.headers.get('retry-after'),
        body: await readBounded(response),
      };
    } catch (error) {
      throw new ProducerAwayError(`The API at ${url} did not answer. Is it running?`, { cause: error });
    }
  };
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > answerBytesMax) throw new Error(`its answer is longer than ${answerBytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
