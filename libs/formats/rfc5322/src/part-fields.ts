import { decodeHeaderText } from './encoded-words';
import { safeFilename } from './filenames';
import { getHeader } from './header-fields';
import { parseMessageIds } from './message-ids';
import { compileBoundary, type Boundary } from './multipart';
import { parseParameterizedValue } from './parameters';
import type { HeaderField } from './parsed-message';

/** What the Content-* fields of a part say (RFC 2045, RFC 2183), with the defaults filled in. */
export interface PartFields {
  contentType: string;
  parameters: Map<string, string>;
  charset: string | null;
  encoding: string;
  disposition: 'attachment' | 'inline' | null;
  filename: string | null;
  contentId: string | null;
  /** Set for a multipart only. */
  boundary: Boundary | null;
}

const MEDIA_TYPE = /^[!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+$/;

export function readPartFields(headers: readonly HeaderField[], defaultType: string): PartFields {
  const type = readContentType(getHeader(headers, 'content-type'), defaultType);
  const disposition = readDisposition(getHeader(headers, 'content-disposition'));
  const charset = type.parameters.get('charset')?.trim().toLowerCase() ?? '';
  return {
    ...type,
    charset: charset === '' ? null : charset,
    encoding: readEncoding(getHeader(headers, 'content-transfer-encoding')),
    disposition: disposition.kind,
    filename: readFilename(disposition.filename, type.parameters.get('name')),
    contentId: readContentId(getHeader(headers, 'content-id')),
  };
}

function readContentType(
  header: string | null,
  defaultType: string,
): Pick<PartFields, 'contentType' | 'parameters' | 'boundary'> {
  if (header === null) return { contentType: defaultType, parameters: new Map(), boundary: null };
  const { value, parameters } = parseParameterizedValue(header);
  const declared = value.replace(/\s+/g, '').toLowerCase();
  if (!MEDIA_TYPE.test(declared)) return { contentType: defaultType, parameters, boundary: null };
  if (!declared.startsWith('multipart/'))
    return { contentType: declared, parameters, boundary: null };
  const boundary = parameters.get('boundary');
  // A multipart that cannot be taken apart is read as the plain text it then is.
  if (boundary === undefined) return { contentType: 'text/plain', parameters, boundary: null };
  return { contentType: declared, parameters, boundary: compileBoundary(boundary) };
}

function readDisposition(header: string | null): {
  kind: 'attachment' | 'inline' | null;
  filename: string | undefined;
} {
  if (header === null) return { kind: null, filename: undefined };
  const { value, parameters } = parseParameterizedValue(header);
  const filename = parameters.get('filename');
  const kind = value.toLowerCase();
  if (kind === 'inline') return { kind, filename };
  // RFC 2183 §2.8: an unknown disposition is an attachment. An empty one says nothing.
  return { kind: kind === '' ? null : 'attachment', filename };
}

/** The first token, since "7bit (comment)" and "base64;" are written too. */
function readEncoding(header: string | null): string {
  if (header === null) return '';
  return (/[^\s;()"']+/.exec(header)?.[0] ?? '').toLowerCase();
}

function readFilename(disposition: string | undefined, type: string | undefined): string | null {
  for (const declared of [disposition, type]) {
    const name = declared === undefined ? null : safeFilename(declared);
    if (name !== null) return name;
  }
  return null;
}

function readContentId(header: string | null): string | null {
  if (header === null) return null;
  const [id = decodeHeaderText(header).replace(/[<>\s]/g, '')] = parseMessageIds(header);
  return id === '' ? null : id;
}
