/** A Kubernetes object as it was rendered; what its checks read, after its shape was checked. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: unknown;
    readonly ports?: readonly Port[];
    readonly template?: { readonly metadata?: Resource['metadata']; readonly spec: PodSpec };
    readonly [field: string]: unknown;
  };
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext?: Readonly<Record<string, unknown>> & {
    readonly runAsNonRoot?: boolean;
    readonly runAsUser?: number;
    readonly seccompProfile?: { readonly type?: string };
  };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
  readonly envFrom?: readonly {
    readonly configMapRef?: { readonly name: string };
    readonly secretRef?: unknown;
  }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly lifecycle?: { readonly preStop?: { readonly exec?: { readonly command?: readonly string[] } } };
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>;
    readonly limits?: Readonly<Record<string, string>>;
  };
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[] };
  };
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface Probe {
  readonly httpGet?: { readonly path?: string; readonly port: string | number };
}

interface Port {
  readonly port: number;
  readonly targetPort?: string | number;
}

interface Volume {
  readonly name: string;
  readonly secret?: {
    readonly secretName?: string;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
}

/** `Deployment/lapse-closer`, as a fault names it. */
export function nameOf({ kind, metadata }: Resource): string {
  return `${kind}/${metadata.name}`;
}

/** A CronJob with its pods where every other workload has them; anything else as it is. */
export function withTemplate(resource: Resource): Resource {
  if (resource.kind !== 'CronJob') return resource;
  const { spec } = (resource.spec?.jobTemplate ?? {}) as Pick<Resource, 'spec'>;
  return spec === undefined ? resource : { ...resource, spec };
}
