/** The least UUIDv7 (RFC 9562 §5.7) of a time in milliseconds. */
export function firstIdOf(time: number): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
