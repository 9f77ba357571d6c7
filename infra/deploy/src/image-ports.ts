import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settings } from '@lapse/runtime';
import { dockerfilePath } from './check-dockerfile.ts';

/** The setting of each app's own port, beside the ops port that all have. */
const httpPorts: Readonly<Record<string, { readonly default: string }>> = {
  producer: settings.http.settings.port,
  console: settings.console.settings.port,
  'payment-simulator': settings.simulator.settings.port,
};

/** Where a process of this image listens when no setting says otherwise: its ops port, and that for browsers or shops. */
export function portsOf(
  root: string,
  app: string,
): { readonly ops: number; readonly http: number | undefined } {
  const dockerfile = readFileSync(join(root, dockerfilePath), 'utf8');
  const ops = Number(/LAPSE_OPS_PORT=(\d+)/.exec(dockerfile)?.[1]);
  const http = httpPorts[app];
  return { ops, http: http === undefined ? undefined : Number(http.default) };
}
