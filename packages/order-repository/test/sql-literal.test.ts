import fc from 'fast-check';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { orderRows } from '../src/order-rows.ts';
import { sqlBytes, sqlInteger, sqlLiteral, sqlText, sqlTime } from '../src/sql-literal.ts';
import { createActivity, type Fixture, newOrder, openFixture } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture?.close());

/** What MySQL reads in a literal. */
async function read(literal: string): Promise<unknown> {
  const [row] = await fixture.query('SELECT ? AS value', [sqlLiteral(literal)]);
  return row?.value;
}

const hostile = [
  "'",
  '\\',
  "\\'",
  '"',
  "'; DROP TABLE orders; --",
  '\0',
  '\n',
  '\u001a',
  '?',
  '\u{1F4BA}',
  '',
];

it.each(hostile)('the text %j is read as it was', async (text) => {
  expect(await read(sqlText(text))).toBe(text);
});

it.each(['', 'NO_BACKSLASH_ESCAPES', 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'])(
  'text is read as it was whatever the sql_mode of the session: %j',
  async (mode) => {
    const texts = hostile.map((text, at) => `${sqlText(text)} AS \`${at}\``);
    const connection = await createConnection({ uri: fixture.url });
    try {
      await connection.query('SET SESSION sql_mode = ?', [mode]);
      const [[row]] = await connection.query<RowDataPacket[]>('SELECT ?', [sqlLiteral(texts.join(','))]);
      expect(Object.values(row ?? {})).toEqual(hostile);
    } finally {
      await connection.end();
    }
  },
);

it('any text, bytes, whole number and time are read as they were', async () => {
  const time = fc.date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true });
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme' }),
      fc.uint8Array(),
      fc.maxSafeInteger(),
      time,
      async (text, bytes, number, at) => {
        expect(await read(sqlText(text))).toBe(text);
        expect(await read(sqlBytes(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
        expect(Number(await read(sqlInteger(number)))).toBe(number);
        expect(await read(`CAST(${sqlTime(at)} AS DATETIME(3))`)).toEqual(at);
      },
    ),
    { numRuns: 50 },
  );
});

it.each([
  ['an object that says SQL', { toString: () => '1), (2' }],
  ['text', '1'],
  ['a part', 1.5],
  ['no number', Number.NaN],
])('%s in place of a number is refused before any statement', async (_name, value) => {
  expect(() => sqlInteger(value as number)).toThrow(TypeError);
  const order = newOrder(await createActivity(fixture.repository));
  for (const field of ['activityId', 'quantity', 'amountMinor'] as const) {
    expect(() => orderRows([{ ...order, [field]: value as number }], Buffer.alloc(16))).toThrow(TypeError);
  }
});

it.each([
  ['nothing', null],
  ['a number', 5],
  ['a list', ['a']],
  ['an object that says SQL', { toString: () => "' OR 1 --" }],
])(
  '%s in place of bytes or text is refused before any statement, and text in place of bytes',
  async (_name, value) => {
    expect(() => sqlBytes(value as unknown as Buffer)).toThrow(TypeError);
    expect(() => sqlBytes("' OR 1 --" as unknown as Buffer)).toThrow(TypeError);
    expect(() => sqlText(value as unknown as string)).toThrow(TypeError);
    const order = newOrder(await createActivity(fixture.repository));
    for (const field of ['requestHash', 'currency', 'locale'] as const) {
      expect(() => orderRows([{ ...order, [field]: value }], Buffer.alloc(16))).toThrow(TypeError);
    }
  },
);

it('a time that is none is refused', () => {
  expect(() => sqlTime(new Date(Number.NaN))).toThrow(RangeError);
});
