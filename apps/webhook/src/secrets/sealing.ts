import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts texts so that the database alone does not reveal them (AES-256-GCM). */
export interface Sealing {
  /** @param context of the text; only the same context opens it */
  seal(text: string, context: string): Buffer;
  /** @throws Error when it was sealed with another secret or for another context, or was changed since */
  open(sealed: Uint8Array, context: string): string;
}

/** @param secret DAK_SECRET; changing it makes everything sealed before unreadable */
export function createSealing(secret: string): Sealing {
  const key = new Uint8Array(hkdfSync('sha256', secret, 'dak webhook', 'sealed columns', 32));
  return {
    seal(text, context) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      cipher.setAAD(Buffer.from(context, 'utf8'));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, sealed, cipher.getAuthTag()]);
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed);
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES));
      decipher.setAAD(Buffer.from(context, 'utf8'));
      decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
      const text = decipher.update(bytes.subarray(IV_BYTES, bytes.length - TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    },
  };
}
