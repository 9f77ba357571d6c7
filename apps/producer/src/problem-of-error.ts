import type { FieldFault, Problem } from '@lapse/operations';
import type { FastifyError, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { isStoreUnavailable } from './store-unavailable.ts';

/** What Fastify calls its own refusals, and what we call them. */
const frameworkProblems: Readonly<Record<string, Problem>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'BODY_TOO_LARGE' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: 'UNSUPPORTED_MEDIA_TYPE' },
  FST_ERR_CTP_INVALID_JSON_BODY: invalid('body', 'is not valid JSON'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: invalid('headers.content-length', 'differs from the size of the body'),
  FST_ERR_BAD_URL: invalid('url', 'is not a valid address'),
  FST_ERR_MAX_PARAM_LENGTH: invalid('url', 'has a part that is too long'),
};

function invalid(field: string, message: string): Problem {
  return { code: 'INVALID_REQUEST', errors: [{ field, message }] };
}

/**
 * The problem that a thrown error becomes. Expected refusals are return values and never come here, so
 * what is left is a request that the framework refused, a store that is away, or a fault of ours. The text
 * of an error never goes out: it may hold addresses, SQL or another buyer's data.
 */
export function problemOfError(error: FastifyError, request: Pick<FastifyRequest, 'raw'>): Problem {
  // The client hung up in the middle of its body: nobody reads the answer, and nothing of ours is at fault.
  if (error === request.raw.errored) return invalid('body', 'broke off before its end');
  if (hasZodFastifySchemaValidationErrors(error)) {
    const part = 'validationContext' in error ? String(error.validationContext) : 'request';
    const faults = error.validation.flatMap((fault) => faultsOf(part, fault));
    // A value may break several rules of one field; the first is enough to mend it.
    const firsts = new Map(faults.toReversed().map((fault) => [fault.field, fault]));
    return { code: 'INVALID_REQUEST', errors: [...firsts.values()].reverse() };
  }
  const known = frameworkProblems[error.code];
  if (known) return known;
  if (isStoreUnavailable(error)) return { code: 'UNAVAILABLE' };
  // Any other refusal by the framework itself.
  if (error.code?.startsWith('FST_ERR_CTP_')) return invalid('body', 'cannot be read');
  return { code: 'INTERNAL' };
}

/** One fault per unknown key, else one per issue. */
function faultsOf(
  part: string,
  fault: { instancePath: string; message?: string | undefined; params: Record<string, unknown> },
): FieldFault[] {
  // validatorCompiler writes zod's path as "/a/0/b".
  const path = [part, ...fault.instancePath.split('/').filter((step) => step !== '')].join('.');
  const { keys } = fault.params;
  if (Array.isArray(keys)) {
    return keys.map((key) => ({ field: `${path}.${String(key)}`, message: 'is not a known field' }));
  }
  return [{ field: path, message: fault.message ?? 'is not valid' }];
}
