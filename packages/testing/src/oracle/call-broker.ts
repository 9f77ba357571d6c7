import { connect } from 'node:net';

/** What the oracle asks of name server and broker: codes of RocketMQ's own protocol. All of them only read. */
export const brokerCodes = {
  readOffset: 14,
  maxOffset: 30,
  minOffset: 31,
  clusterInfo: 106,
  topicConfig: 351,
} as const;

export interface BrokerAnswer {
  /** 0 is success. */
  readonly code: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

const timeoutMs = 5_000;
const answerBytesMax = 1_048_576;
const lengthBytes = 4;
/** The upper byte of the header's length names its encoding; 0 is JSON. */
const headerLengthMask = 0x00ff_ffff;

/**
 * One question over a connection of its own. An answer that says "no" is an answer.
 * @throws {Error} when nothing that can be read comes within 5 s.
 */
export function callBroker(
  address: string,
  code: number,
  fields: Readonly<Record<string, string | number | boolean>> = {},
  body = '',
): Promise<BrokerAnswer> {
  const [host = '', port = ''] = address.split(/:(?=\d+$)/);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port) });
    let bytes = Buffer.alloc(0);
    const fail = (why: string): void => {
      socket.destroy();
      reject(new Error(`RocketMQ at ${address}: ${why}`));
    };
    socket.setTimeout(timeoutMs, () => fail(`no answer to request ${code} in ${timeoutMs} ms`));
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => fail('the connection was closed'));
    socket.on('connect', () => socket.write(frame(code, fields, Buffer.from(body))));
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (bytes.length < lengthBytes) return;
      const length = bytes.readInt32BE(0);
      if (length < lengthBytes || length > answerBytesMax) return fail(`a frame of ${length} bytes`);
      if (bytes.length < lengthBytes + length) return;
      socket.destroy();
      resolve(readAnswer(bytes.subarray(lengthBytes, lengthBytes + length)));
    });
  });
}

function frame(
  code: number,
  fields: Readonly<Record<string, string | number | boolean>>,
  body: Buffer,
): Buffer {
  const extFields = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  const header = Buffer.from(
    JSON.stringify({ code, language: 'OTHER', version: 473, opaque: 1, flag: 0, extFields }),
  );
  const lengths = Buffer.alloc(2 * lengthBytes);
  lengths.writeInt32BE(lengthBytes + header.length + body.length, 0);
  lengths.writeInt32BE(header.length, lengthBytes);
  return Buffer.concat([lengths, header, body]);
}

function readAnswer(bytes: Buffer): BrokerAnswer {
  const bodyAt = lengthBytes + (bytes.readInt32BE(0) & headerLengthMask);
  const header = JSON.parse(bytes.toString('utf8', lengthBytes, bodyAt)) as Record<string, unknown>;
  return {
    code: Number(header.code),
    fields: (header.extFields ?? {}) as Record<string, string>,
    body: bytes.toString('utf8', bodyAt),
  };
}
