import {
  messageBytesMax,
  type Phase,
  type TimeoutMessage,
  timeoutMessage,
  timeoutMessageVersion,
} from '@lapse/contracts';

export type Decoded =
  | { readonly kind: 'decoded'; readonly message: TimeoutMessage }
  /** Not ours, or not of this release. `reason` is for a person, at most 500 characters. */
  | { readonly kind: 'refused'; readonly reason: string };

const reasonLengthMax = 500;

/** Read a message body. Never throws: whatever arrives on the topic is either understood or refused. */
export function decodeMessage(body: Buffer, phase: Phase): Decoded {
  if (body.length > messageBytesMax) return refused(`longer than ${messageBytesMax} bytes`);
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch (error) {
    return refused(`not JSON: ${error instanceof Error ? error.message : error}`);
  }
  const version = field(json, 'version');
  if (version === undefined) return refused('not a timeout message: it has no version');
  if (version !== timeoutMessageVersion) {
    return refused(`version ${JSON.stringify(version)}; this release reads version ${timeoutMessageVersion}`);
  }
  const parsed = timeoutMessage.safeParse(json);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    return refused(`not a timeout message: ${faults.slice(0, 5).join('; ')}`);
  }
  if (parsed.data.phase !== phase)
    return refused(`phase ${parsed.data.phase} on the topic of phase ${phase}`);
  return { kind: 'decoded', message: parsed.data };
}

function field(json: unknown, name: string): unknown {
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>)[name] : undefined;
}

function refused(reason: string): Decoded {
  return { kind: 'refused', reason: reason.slice(0, reasonLengthMax) };
}
