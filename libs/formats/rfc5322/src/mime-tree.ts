import { readHeaderBlock } from './header-fields';
import { readableLineEnds, type Source } from './line-ends';
import { delimiterAt, findDelimiter, type Boundary, type Delimiter } from './multipart';
import { readPartFields, type PartFields } from './part-fields';
import type { HeaderField, ParseDefect, Part } from './parsed-message';
import { decodeTransferEncoding } from './transfer-encoding';

export interface ParseLimits {
  /** Parts of all levels together, multiparts and embedded messages included. */
  maxParts: number;
  /** Levels of multiparts and embedded messages. */
  maxNesting: number;
  /** Bytes of one header block; fields beyond are dropped. */
  maxHeaderBytes: number;
}

export interface MimeTree {
  root: Part;
  leaves: Part[];
  defects: Set<ParseDefect>;
}

/** A part as read, and the boundary line that ended it; null at the end of the bytes. */
interface Reading {
  part: Part;
  delimiter: Delimiter | null;
}

/** Where a part stands in the tree. */
interface Place {
  path: string;
  depth: number;
  defaultType: string;
}

/** A part whose header has been read. */
interface Entity {
  source: Source;
  /** Offset of its first body byte. */
  start: number;
  /** Boundaries of the enclosing multiparts, outermost first. */
  boundaries: readonly Boundary[];
  headers: HeaderField[];
  fields: PartFields;
  place: Place;
}

const OPAQUE = 'application/octet-stream';

/**
 * The part tree of a message (RFC 2046) in one pass over its bytes: a boundary line of an outer
 * multipart ends everything inside it (§5.1.2), so that no line is examined twice. What exceeds a
 * limit becomes an opaque application/octet-stream leaf.
 */
export function readMimeTree(raw: Uint8Array, limits: ParseLimits): MimeTree {
  const reader = new MimeReader(limits);
  const place = { path: '', depth: 0, defaultType: 'text/plain' };
  const { part } = reader.readEntity(readableLineEnds(raw), 0, [], place);
  return { root: part, leaves: reader.leaves, defects: reader.defects };
}

class MimeReader {
  readonly leaves: Part[] = [];
  readonly defects = new Set<ParseDefect>();
  private parts = 0;

  constructor(private readonly limits: ParseLimits) {}

  readEntity(
    source: Source,
    offset: number,
    boundaries: readonly Boundary[],
    place: Place,
  ): Reading {
    this.parts += 1;
    const { headers, bodyStart, truncated } = readHeaderBlock(
      source.lines,
      offset,
      this.limits.maxHeaderBytes,
      (lineStart) => delimiterAt(source.lines, lineStart, boundaries) !== null,
    );
    if (truncated) this.defects.add('header_too_large');
    const fields = readPartFields(headers, place.defaultType);
    const entity = { source, start: bodyStart, boundaries, headers, fields, place };
    const nests = fields.boundary !== null || isMessageType(fields.contentType);
    if (nests && place.depth >= this.limits.maxNesting) {
      this.defects.add('too_deep');
      return this.readLeaf(entity, OPAQUE);
    }
    if (fields.boundary !== null) return this.readMultipart(entity, fields.boundary);
    if (isMessageType(fields.contentType)) return this.readEmbedded(entity);
    return this.readLeaf(entity, fields.contentType);
  }

  private readLeaf(entity: Entity, contentType: string): Reading {
    const delimiter = findDelimiter(entity.source.lines, entity.start, entity.boundaries);
    return { part: this.leaf(entity, contentType, bodyBytes(entity, delimiter)), delimiter };
  }

  private leaf(entity: Entity, contentType: string, encoded: Uint8Array): Part {
    const { bytes, clean } = decodeTransferEncoding(encoded, entity.fields.encoding);
    if (!clean) this.defects.add('bad_encoding');
    const part = newPart(entity, contentType);
    // A message that is one single part is "1".
    if (part.path === '') part.path = '1';
    part.content = bytes;
    this.leaves.push(part);
    return part;
  }

  private readMultipart(entity: Entity, boundary: Boundary): Reading {
    const { lines } = entity.source;
    const own = entity.boundaries.length;
    const boundaries = [...entity.boundaries, boundary];
    let delimiter = findDelimiter(lines, entity.start, boundaries);
    if (delimiter?.level !== own) return this.readUndelimited(entity, delimiter);

    const part = newPart(entity, entity.fields.contentType);
    while (delimiter?.level === own && !delimiter.closes) {
      // A boundary line at the very end opens nothing.
      if (delimiter.next >= lines.length) {
        delimiter = null;
        break;
      }
      const child = this.readChild(entity, boundaries, delimiter, part.children.length + 1);
      part.children.push(child.part);
      delimiter = child.delimiter;
    }
    if (delimiter?.level !== own) {
      this.defects.add('unterminated_multipart');
      return { part, delimiter };
    }
    return { part, delimiter: findDelimiter(lines, delimiter.next, entity.boundaries) };
  }

  private readChild(
    parent: Entity,
    boundaries: readonly Boundary[],
    opening: Delimiter,
    number: number,
  ): Reading {
    const place = {
      path: childPath(parent.place.path, number),
      depth: parent.place.depth + 1,
      defaultType:
        parent.fields.contentType === 'multipart/digest' ? 'message/rfc822' : 'text/plain',
    };
    if (this.parts < this.limits.maxParts) {
      return this.readEntity(parent.source, opening.next, boundaries, place);
    }
    this.defects.add('too_many_parts');
    // The boundaries of the parent, not its own: this takes in all of its remaining parts.
    const rest = {
      source: parent.source,
      start: opening.lineStart,
      boundaries: parent.boundaries,
      headers: [],
      fields: readPartFields([], OPAQUE),
      place,
    };
    return this.readLeaf(rest, OPAQUE);
  }

  /** A multipart whose boundary never comes: its text is shown rather than lost. */
  private readUndelimited(entity: Entity, delimiter: Delimiter | null): Reading {
    this.defects.add('missing_boundary');
    const body = bodyBytes(entity, delimiter);
    if (isBlank(body)) return { part: newPart(entity, entity.fields.contentType), delimiter };
    return { part: this.leaf(entity, 'text/plain', body), delimiter };
  }

  /** message/rfc822: read on in the same bytes, unless they are encoded against RFC 2046 §5.2.1. */
  private readEmbedded(entity: Entity): Reading {
    if (this.parts >= this.limits.maxParts) {
      this.defects.add('too_many_parts');
      return this.readLeaf(entity, OPAQUE);
    }
    const { fields, source, boundaries } = entity;
    const place = {
      path: childPath(entity.place.path, 1),
      depth: entity.place.depth + 1,
      defaultType: 'text/plain',
    };
    const part = newPart(entity, fields.contentType);
    let delimiter: Delimiter | null;
    let root: Part;
    if (fields.encoding === 'base64' || fields.encoding === 'quoted-printable') {
      delimiter = findDelimiter(source.lines, entity.start, boundaries);
      const { bytes, clean } = decodeTransferEncoding(
        bodyBytes(entity, delimiter),
        fields.encoding,
      );
      if (!clean) this.defects.add('bad_encoding');
      part.embedded = bytes;
      root = this.readEntity(readableLineEnds(bytes), 0, [], place).part;
    } else {
      ({ part: root, delimiter } = this.readEntity(source, entity.start, boundaries, place));
      part.embedded = bodyBytes(entity, delimiter);
    }
    part.children = [root];
    part.embeddedHeaders = root.headers;
    return { part, delimiter };
  }
}

function newPart(entity: Entity, contentType: string): Part {
  const { parameters, charset, encoding, disposition, filename, contentId } = entity.fields;
  return {
    path: entity.place.path,
    contentType,
    parameters,
    charset,
    encoding,
    disposition,
    filename,
    contentId,
    headers: entity.headers,
    content: EMPTY,
    children: [],
    embedded: null,
    embeddedHeaders: null,
  };
}

const EMPTY = new Uint8Array(0);

function bodyBytes(entity: Entity, delimiter: Delimiter | null): Buffer {
  const { raw } = entity.source;
  const end = delimiter ? Math.max(delimiter.contentEnd, entity.start) : raw.length;
  return raw.subarray(entity.start, end);
}

function childPath(parent: string, number: number): string {
  return parent === '' ? String(number) : `${parent}.${number}`;
}

function isMessageType(contentType: string): boolean {
  return contentType === 'message/rfc822' || contentType === 'message/global';
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte <= 0x20);
}
