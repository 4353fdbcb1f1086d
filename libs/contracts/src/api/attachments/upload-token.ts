import { randomBytes } from 'node:crypto';
import { z } from 'zod';

export const uploadTokenShape = z
  .string()
  .regex(/^upl_[A-Za-z0-9_-]{32}$/, 'must be the token of an upload.');

/** 192 random bits: a token cannot be guessed, and means nothing outside its tenant. */
export function createUploadToken(): string {
  return `upl_${randomBytes(24).toString('base64url')}`;
}
