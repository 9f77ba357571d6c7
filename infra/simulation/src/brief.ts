/** A result as text, for a person: bytes are shown as the text that they are. */
export function brief(value: unknown): string {
  if (value === undefined) return 'done';
  return JSON.stringify(value, (key, part) => {
    if (key === 'requestHash') return undefined;
    if (part?.type === 'Buffer' && Array.isArray(part.data)) return Buffer.from(part.data).toString();
    return part instanceof Map ? [...part] : part;
  });
}
