/** How often a request that met 503, or nobody, is sent again before it counts as failed. */
const triesMax = 20;
const requestTimeoutMs = 15_000;

/**
 * Send a request until it is answered with anything but 503, some seconds at most: what is sent must bear to arrive
 * twice. @throws when nobody answers. A last 503 is given back as it is.
 */
export async function sendRequest(url: string, init: RequestInit): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(requestTimeoutMs) }).catch(
      (cause: unknown) => {
        if (tries < triesMax) return undefined;
        throw new Error(`LAPSE_SALE_NO_ANSWER: ${init.method} ${url} got no answer`, { cause });
      },
    );
    if (response !== undefined && (response.status !== 503 || tries >= triesMax)) return response;
    await response?.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 400));
  }
}
