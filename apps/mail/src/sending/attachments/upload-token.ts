import { randomBytes } from 'node:crypto';

const TOKEN = /^upl_[A-Za-z0-9_-]{32}$/;

/** 192 random bits: a token cannot be guessed, and means nothing outside its tenant. */
export function createUploadToken(): string {
  return `upl_${randomBytes(24).toString('base64url')}`;
}

export function isUploadToken(text: string): boolean {
  return TOKEN.test(text);
}
