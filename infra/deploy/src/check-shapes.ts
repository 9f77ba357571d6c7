import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { nameOf, type Resource } from './resource.ts';

/** Where the module of a kind is: one package holds what Kubernetes has, others what is added to it. */
function moduleOf({ apiVersion, kind }: Resource): string {
  const path = `${apiVersion}/${kind}`;
  if (apiVersion.startsWith('keda.sh/')) return `@kubernetes-models/keda/${path}`;
  if (apiVersion.startsWith('monitoring.coreos.com/'))
    return `@kubernetes-models/prometheus-operator/${path}`;
  return `kubernetes-models/${path}`;
}

const require = createRequire(import.meta.url);
/** Never written: the compiler is told that it is there. */
const virtualFile = join(fileURLToPath(new URL('.', import.meta.url)), 'rendered-resources.ts');

/**
 * Hold objects against the published schemas of Kubernetes and KEDA: types, what is required and formats by their
 * validators; a field that no schema knows by the compiler, which sees each object as a literal of the schema's type.
 * The API server would drop such a field in silence, or refuse it.
 */
export function checkShapes(resources: readonly Resource[]): string[] {
  const known = resources.filter((resource) => hasModule(resource));
  const unknown = resources.filter((resource) => !known.includes(resource));
  return [
    ...unknown.map(
      (resource) => `${nameOf(resource)}: no schema for ${resource.apiVersion} ${resource.kind}`,
    ),
    ...known.flatMap(validate),
    ...findUnknownFields(known),
  ];
}

function hasModule(resource: Resource): boolean {
  try {
    require.resolve(moduleOf(resource));
    return true;
  } catch {
    return false;
  }
}

function validate(resource: Resource): string[] {
  const models = require(moduleOf(resource)) as Record<string, new (data: unknown) => { validate(): void }>;
  const Model = models[resource.kind];
  if (Model === undefined) return [`${nameOf(resource)}: no validator`];
  try {
    new Model(resource).validate();
    return [];
  } catch (error) {
    return [`${nameOf(resource)}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function findUnknownFields(resources: readonly Resource[]): string[] {
  const text = resources
    .map(
      (resource, index) =>
        `const r${index}: import('${moduleOf(resource)}').I${resource.kind} = ${JSON.stringify(resource)};`,
    )
    .join('\n');
  const options: ts.CompilerOptions = {
    ...{ noEmit: true, strict: true, skipLibCheck: true, types: [] },
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (file) => file === virtualFile || fileExists(file);
  host.getSourceFile = (file, ...rest) =>
    file === virtualFile
      ? ts.createSourceFile(file, text, ts.ScriptTarget.ES2022)
      : getSourceFile(file, ...rest);
  const program = ts.createProgram([virtualFile], options, host);
  return ts.getPreEmitDiagnostics(program).map((diagnostic) => {
    const line = diagnostic.file?.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line;
    const resource = line === undefined ? undefined : resources[line];
    const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ');
    return `${resource === undefined ? 'types' : nameOf(resource)}: ${message}`;
  });
}
