import type { UploadRecord } from '@dak/contracts/api';

export const UPLOAD_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** A row of `upload`; times are RFC 3339 UTC. */
export interface UploadRow {
  token: string;
  user_id: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  disposition: 'attachment' | 'inline';
  content_id: string | null;
  scan_status: UploadRecord['scan_status'];
  created_at: string;
  expires_at: string;
}

export function renderUpload(row: UploadRow): UploadRecord {
  return {
    token: row.token,
    filename: row.filename,
    content_type: row.content_type,
    size_bytes: row.size_bytes,
    sha256: row.sha256,
    scan_status: row.scan_status,
    content_id: row.content_id,
    expires_at: row.expires_at,
  };
}

const TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** The media type without parameters; `application/octet-stream` if it is invalid (RFC 6838 §4.2). */
export function normalizeContentType(declared: string): string {
  const type = declared.split(';', 1)[0]!.trim().toLowerCase();
  return TYPE.test(type) ? type : 'application/octet-stream';
}
