import { lowerCaseUuid, operationsPageMax } from '@lapse/contracts';
import { z } from 'zod';
import { typedNumber } from './read-input.ts';

/** Numbers of rows, and ids of rows that have UUIDs, as arguments. */
export const typedRowNumbers = z
  .array(typedNumber.pipe(z.int().positive()))
  .min(1)
  .max(operationsPageMax, `must be at most ${operationsPageMax} at a time`);
export const typedRowIds = z
  .array(lowerCaseUuid)
  .min(1)
  .max(operationsPageMax, `must be at most ${operationsPageMax} at a time`);
