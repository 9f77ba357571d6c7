import { createHmac } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** RocketMQ's own protocol, as far as creating topics and counting messages needs it: codes from RequestCode and ResponseCode. */
export const requestCodes = {
  queryConsumerOffset: 14,
  updateConsumerOffset: 15,
  updateTopic: 17,
  maxOffset: 30,
  minOffset: 31,
  topicRoute: 105,
  clusterInfo: 106,
  updateGroup: 200,
  topicConfig: 351,
  groupConfig: 352,
} as const;
export const responseCodes = {
  success: 0,
  noPermission: 16,
  topicNotExist: 17,
  queryNotFound: 22,
  groupNotExist: 26,
} as const;

/** RocketMQ 5.x says what it understands by this number; older answers are the same. */
const protocolVersion = 473;
const answerBytesMax = 16 * 1_024 * 1_024;
const lengthBytes = 4;
/** The upper byte of the header's length names its encoding; 0 is JSON. */
const headerLengthMask = 0x00ff_ffff;

export interface RemotingAnswer {
  readonly code: number;
  readonly remark: string;
  readonly fields: Readonly<Record<string, string>>;
  /** Parsed JSON, or undefined when the answer has no body. */
  readonly body: unknown;
}

export interface RemotingCredentials {
  readonly accessKey: string;
  readonly secretKey: string;
}

export interface RemotingRequest {
  /** `host:port` of a name server or broker. */
  readonly address: string;
  readonly code: number;
  readonly fields?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  readonly timeoutMs: number;
  readonly credentials?: RemotingCredentials | undefined;
}

/**
 * One request to a name server or a broker over a connection of its own. An answer that says "no" is an
 * answer; only a broken connection, nonsense, or silence throws.
 */
export function callRemoting(request: RemotingRequest): Promise<RemotingAnswer> {
  const separator = request.address.lastIndexOf(':');
  const host = request.address.slice(0, separator).replace(/^\[|\]$/g, '');
  const port = Number(request.address.slice(separator + 1));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const socket = connect({ host, port });
    const timer = setTimeout(() => fail(`no answer in ${request.timeoutMs} ms`), request.timeoutMs);

    function finish(act: () => void): void {
      clearTimeout(timer);
      socket.destroy();
      act();
    }
    function fail(why: string, cause?: unknown): void {
      finish(() => reject(new Error(`${request.address}: ${why}`, { cause })));
    }

    socket.on('connect', () => writeFrame(socket, request));
    socket.on('error', (error) => fail(error.message, error));
    socket.on('close', () => fail('the connection was closed'));
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      bytes += chunk.length;
      try {
        const answer = readFrame(Buffer.concat(chunks, bytes));
        if (answer) finish(() => resolve(answer));
      } catch (error) {
        fail('an answer that is not RocketMQ', error);
      }
    });
  });
}

function writeFrame(socket: Socket, request: RemotingRequest): void {
  const body = Buffer.from(request.body === undefined ? '' : JSON.stringify(request.body));
  const fields = Object.fromEntries(Object.entries(request.fields ?? {}).map(([k, v]) => [k, String(v)]));
  const header = Buffer.from(
    JSON.stringify({
      code: request.code,
      language: 'OTHER',
      version: protocolVersion,
      opaque: 1,
      flag: 0,
      serializeTypeCurrentRPC: 'JSON',
      extFields: request.credentials ? sign(fields, body, request.credentials) : fields,
    }),
  );
  const lengths = Buffer.alloc(2 * lengthBytes);
  lengths.writeInt32BE(lengthBytes + header.length + body.length, 0);
  lengths.writeInt32BE(header.length, lengthBytes);
  socket.write(Buffer.concat([lengths, header, body]));
}

/** What a broker with ACL asks for: HMAC-SHA1 of all field values, in the order of their names, and the body. */
function sign(fields: Record<string, string>, body: Buffer, { accessKey, secretKey }: RemotingCredentials) {
  const signed: Record<string, string> = { ...fields, AccessKey: accessKey };
  const names = Object.keys(signed).sort();
  const hmac = createHmac('sha1', secretKey)
    .update(names.map((name) => signed[name]).join(''))
    .update(body);
  return { ...signed, Signature: hmac.digest('base64') };
}

/** @returns undefined while the frame is not complete. */
function readFrame(bytes: Buffer): RemotingAnswer | undefined {
  if (bytes.length < lengthBytes) return undefined;
  const length = bytes.readInt32BE(0);
  if (length < lengthBytes || length > answerBytesMax) throw new Error(`frame of ${length} bytes`);
  if (bytes.length < lengthBytes + length) return undefined;
  const headerAt = 2 * lengthBytes;
  const bodyAt = headerAt + (bytes.readInt32BE(lengthBytes) & headerLengthMask);
  const header = JSON.parse(bytes.toString('utf8', headerAt, bodyAt)) as Record<string, unknown>;
  const body = bytes.toString('utf8', bodyAt, lengthBytes + length);
  return {
    code: Number(header.code),
    remark: String(header.remark ?? ''),
    fields: (header.extFields ?? {}) as Record<string, string>,
    body: body === '' ? undefined : parseLooseJson(body),
  };
}

/** RocketMQ writes the keys of some maps as bare numbers: `{0:"127.0.0.1:10911"}`. Strings are left alone. */
export function parseLooseJson(text: string): unknown {
  const strict = text.replace(
    /"(?:[^"\\]|\\.)*"|([{,]\s*)(-?\d+)(\s*:)/g,
    (match: string, before?: string, key?: string, after?: string) =>
      key === undefined ? match : `${before}"${key}"${after}`,
  );
  return JSON.parse(strict);
}
