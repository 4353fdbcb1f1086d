export interface PackedBytes {
  bytes: Buffer;
  /** Where each piece starts, counted from 1 as SQL's `substring` does. */
  starts: number[];
  lengths: number[];
}

/**
 * Many byte strings as one binary parameter, to be cut apart by the server: an array of bytea would
 * travel as hexadecimal text, twice the size and slow to parse on both sides.
 */
export function packBytes(pieces: readonly Uint8Array[]): PackedBytes {
  let next = 1;
  const starts = pieces.map((piece) => {
    const start = next;
    next += piece.byteLength;
    return start;
  });
  return {
    bytes: Buffer.concat(pieces),
    starts,
    lengths: pieces.map((piece) => piece.byteLength),
  };
}
