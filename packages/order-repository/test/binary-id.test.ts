import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idFromBytes, idList, idToBytes, packedIdList, packIds, unpackIds } from '../src/binary-id.ts';

test('ids that were packed come out as they were, in their order, and both ways make the same list of them', () => {
  fc.assert(
    fc.property(fc.array(fc.uuid(), { maxLength: 5 }), (ids) => {
      const packed = packIds(ids);
      expect(packed).toEqual(Buffer.concat(ids.map(idToBytes)));
      expect(unpackIds(packed)).toEqual(ids);
      expect(ids.map(idToBytes).map(idFromBytes)).toEqual(ids);
      const list = ids.length === 0 ? "x''" : ids.map((id) => `x'${id.replaceAll('-', '')}'`).join(',');
      expect([idList(ids).toSqlString(), packedIdList(packed).toSqlString()]).toEqual([list, list]);
    }),
  );
});
