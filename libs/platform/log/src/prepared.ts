import type { QueryConfig } from 'pg';
import { statementName } from '@dak/platform/postgres';

/** A statement that runs often: its connection parses and plans it once. */
export function prepared(text: string, values: unknown[]): QueryConfig {
  return { name: statementName(text), text, values };
}
