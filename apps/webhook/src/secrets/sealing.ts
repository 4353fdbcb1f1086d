import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Keeps texts in the database unreadable for whoever has the database alone (AES-256-GCM). */
export interface Sealing {
  /** @param context what the text belongs to; it opens for the same alone */
  seal(text: string, context: string): Buffer;
  /** @throws Error when it was sealed with another secret, for another context, or changed since */
  open(sealed: Uint8Array, context: string): string;
}

/** @param secret DAK_SECRET; another one makes everything sealed so far unreadable */
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
