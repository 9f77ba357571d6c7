/** The largest honest answer about one thing is below 2 KiB. */
const usualBytesMax = 65_536;

/** An answer's body as text. @throws {Error} when it is longer than `bytesMax`; no more than that is read. */
export async function readBounded(response: Response, bytesMax = usualBytesMax): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks).toString();
    bytes += value.byteLength;
    if (bytes > bytesMax) {
      await reader.cancel();
      throw new Error(`the answer is longer than ${bytesMax} bytes`);
    }
    chunks.push(value);
  }
}
