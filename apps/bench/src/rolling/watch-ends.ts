import type { RunningPrograms } from '../start-programs.ts';

/** `crashed` fails with the first process that ends though nobody asked it to: its twin would hide it. */
export function watchEnds() {
  let fail: (error: unknown) => void = () => undefined;
  const crashed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // It is awaited with everything else, and may fail between two of those.
  crashed.catch(() => undefined);
  const watch = ({ died }: RunningPrograms, isAsked: () => boolean): void => {
    died.catch((error: unknown) => {
      if (!isAsked()) fail(error);
    });
  };
  return { crashed, watch };
}
