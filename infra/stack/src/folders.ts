import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The work tree. The same from src/ and from dist/. */
export const rootDir = fileURLToPath(new URL('../../..', import.meta.url));

/** Everything that `npm start` keeps: data, logs, secrets. `--reset` wipes it. */
export interface StackFolders {
  readonly data: string;
  readonly logs: string;
  readonly secretsFile: string;
  readonly stateFile: string;
  /** The journal of the payment simulator. */
  readonly simulator: string;
}

export function stackFolders(root: string = rootDir): StackFolders {
  const data = join(root, '.lapse');
  return {
    data,
    logs: join(data, 'logs'),
    secretsFile: join(data, 'secrets.json'),
    stateFile: join(data, 'state.json'),
    simulator: join(data, 'payment-simulator'),
  };
}
