import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** A service as it was read; what its checks look at. */
export interface Service {
  readonly image?: string;
  readonly build?: {
    readonly context: string;
    readonly dockerfile: string;
    readonly target?: string;
    readonly args?: { readonly APP?: string };
  };
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly stop_grace_period?: string;
}

export interface Compose {
  readonly name?: string;
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets?: Readonly<Record<string, { readonly file?: string }>>;
  readonly configs?: Readonly<Record<string, { readonly file?: string; readonly content?: string }>>;
}

/** With merge keys resolved, and `${NAME:-default}` as the variable, else its default. */
export function readCompose(path: string, env: Readonly<Record<string, string>> = {}): Compose {
  const text = readFileSync(path, 'utf8').replaceAll(
    /\$\{(\w+)(?::-([^}]*))?\}/g,
    (_, name: string, preset = '') => env[name] ?? preset,
  );
  return parse(text, { merge: true }) as Compose;
}

/** What two files come to, for what ours use: mappings key by key, secrets of a service added. */
export function mergeCompose(base: Compose, over: Compose): Compose {
  const services = Object.entries(over.services).map(([name, service]): [string, Service] => {
    const { environment, secrets = [], ...rest } = base.services[name] ?? {};
    const merged = {
      environment: { ...environment, ...service.environment },
      secrets: [...secrets, ...(service.secrets ?? [])],
    };
    return [name, { ...rest, ...service, ...merged }];
  });
  return {
    ...base,
    services: { ...base.services, ...Object.fromEntries(services) },
    secrets: { ...base.secrets, ...over.secrets },
  };
}
