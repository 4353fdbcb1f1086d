import pg from 'pg';

const TIMESTAMPTZ = 1184;
const INT8 = 20;

/** `2026-11-21 11:00:00.123456+00` → `2026-11-21T11:00:00.123Z`; the session time zone is always UTC. */
export function toRfc3339(text: string): string {
  const fraction =
    text.length > 22
      ? text
          .slice(20, text.length - 3)
          .padEnd(3, '0')
          .slice(0, 3)
      : '000';
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
}

/**
 * How values arrive from Dak's own SQL: timestamptz as RFC 3339 UTC text with milliseconds (what the
 * API shows, and no Date object per cell), int8 as number (no count or size here passes 2^53).
 */
export const DAK_TYPES: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: string) {
    if (format !== 'binary') {
      if (oid === TIMESTAMPTZ) return toRfc3339;
      if (oid === INT8) return Number;
    }
    return pg.types.getTypeParser(oid, format as 'text') as (text: string) => unknown;
  },
};
