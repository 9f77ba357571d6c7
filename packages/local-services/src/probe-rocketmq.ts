import { createHmac } from 'node:crypto';
import { connect } from 'node:http2';
import { exchange } from './probe.ts';
import type { RocketmqUser } from './rocketmq-config.ts';

const probeTimeoutMs = 2_000;
const updateBrokerConfig = 25;
const getClusterInfo = 106;
/** Codes from here on mean that the proxy itself is not well. */
const internalErrorFrom = 50_000;
const headerLengthMask = 0x00ff_ffff;

/**
 * Whether a name server knows the broker, asked over the remoting protocol: four bytes of length,
 * four of header length, a JSON header, the body.
 */
export async function isBrokerRegistered(nameServerPort: number, brokerAddress: string): Promise<boolean> {
  const body = await askNameServer(nameServerPort);
  return body?.includes(`"${brokerAddress}"`) ?? false;
}

/** Whether a name server answers. */
export async function isNameServerReady(port: number): Promise<boolean> {
  return (await askNameServer(port)) !== undefined;
}

/**
 * Make the broker announce itself and its topics now. Its own announcement at start goes nowhere, since
 * it comes before the connection to the name server, and the next one follows only 10 s later.
 * Setting the permission that it has already (read and write) is what triggers it.
 */
export async function announceBroker(brokerPort: number, admin?: RocketmqUser): Promise<void> {
  await call(brokerPort, updateBrokerConfig, 'brokerPermission=6', admin);
}

/** The name server's list of brokers. Its keys are bare numbers, so it is text and not JSON. */
function askNameServer(port: number): Promise<string | undefined> {
  return call(port, getClusterInfo, '');
}

/** One request of the remoting protocol; the answer's body, or undefined when there is no answer. */
async function call(
  port: number,
  code: number,
  body: string,
  admin?: RocketmqUser,
): Promise<string | undefined> {
  const extFields = admin === undefined ? {} : signed(admin, body);
  const header = Buffer.from(
    JSON.stringify({ code, language: 'OTHER', version: 0, opaque: 1, flag: 0, extFields }),
  );
  const payload = Buffer.from(body);
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(4 + header.length + payload.length, 0);
  lengths.writeUInt32BE(header.length, 4);
  const answer = await exchange(
    port,
    Buffer.concat([lengths, header, payload]),
    (bytes) => bytes.length >= 8 && bytes.length >= 4 + bytes.readUInt32BE(0),
  );
  return answer?.subarray(8 + (answer.readUInt32BE(4) & headerLengthMask)).toString('utf8');
}

/** Of a request that has no other fields. */
function signed({ accessKey, secretKey }: RocketmqUser, body: string): Record<string, string> {
  const hmac = createHmac('sha1', secretKey).update(accessKey).update(body);
  return { AccessKey: accessKey, Signature: hmac.digest('base64') };
}

/**
 * Whether the proxy answers a route query over gRPC. Its port opens before it serves, so an open port
 * proves nothing. Any status of its own will do: the topic asked for need not exist.
 */
export function isProxyServing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const session = connect(`http://127.0.0.1:${port}`);
    const finish = (serving: boolean) => {
      clearTimeout(timer);
      session.destroy();
      resolve(serving);
    };
    const timer = setTimeout(finish, probeTimeoutMs, false);
    session.once('error', () => finish(false));
    const request = session.request({
      ':method': 'POST',
      ':path': '/apache.rocketmq.v2.MessagingService/QueryRoute',
      'content-type': 'application/grpc',
      te: 'trailers',
      'x-mq-client-id': 'lapse-probe',
      'x-mq-language': 'JAVA',
      'x-mq-client-version': '5.0.0',
      'x-mq-protocol': 'v2',
    });
    let answer = Buffer.alloc(0);
    request.once('error', () => finish(false));
    request.on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
    });
    request.once('end', () => {
      const code = statusCode(answer);
      finish(code > 0 && code < internalErrorFrom);
    });
    request.end(routeQuery('lapse-probe', port));
  });
}

/** Five bytes of frame, then the status message: key of field 1, its length, key of its field 1, the code. */
function statusCode(answer: Buffer): number {
  const length = readVarint(answer, 6);
  if (answer[5] !== 0x0a || answer[length.next] !== 0x08) return 0;
  return readVarint(answer, length.next + 1).value;
}

const varintBytesMax = 4;

function readVarint(bytes: Buffer, from: number): { value: number; next: number } {
  let value = 0;
  for (let index = 0; index < varintBytesMax; index += 1) {
    const byte = bytes[from + index] ?? 0;
    value |= (byte & 0x7f) << (7 * index);
    if (byte < 0x80) return { value, next: from + index + 1 };
  }
  return { value: 0, next: from };
}

/** QueryRouteRequest { topic { name }, endpoints { scheme: IPv4, addresses { host, port } } }. */
function routeQuery(topic: string, port: number): Buffer {
  const address = Buffer.concat([field(1, Buffer.from('127.0.0.1')), Buffer.from([0x10]), varint(port)]);
  const endpoints = Buffer.concat([Buffer.from([0x08, 0x01]), field(2, address)]);
  const message = Buffer.concat([field(1, field(2, Buffer.from(topic))), field(2, endpoints)]);
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  return Buffer.concat([frame, message]);
}

/** A field that has a length; these are all shorter than 128 bytes. */
function field(number: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), value]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
