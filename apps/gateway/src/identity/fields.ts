import { z } from 'zod';

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** A name: one line of text. */
export function nameField(maxLength = 200) {
  return z
    .string()
    .trim()
    .min(1)
    .max(maxLength)
    .refine((text) => !CONTROL.test(text), 'must not hold line breaks or control characters.');
}

/** Text of several lines. */
export function textField(maxLength: number) {
  return z
    .string()
    .max(maxLength)
    .refine(
      (text) => !CONTROL.test(text.replaceAll(/[\n\r\t]/g, '')),
      'must not hold control characters.',
    );
}

/** Compared without regard to case; stored in lower case. */
export function emailField() {
  return z.string().trim().toLowerCase().max(254).pipe(z.email()).meta({ format: 'email' });
}

/** NIST SP 800-63B §3.1.1.2: length counts, composition rules do not. */
export function passwordField() {
  return z.string().min(10).max(200);
}

export function timeZoneField() {
  return z
    .string()
    .refine(isTimeZone, 'must be an IANA time zone such as Asia/Kolkata.')
    .meta({ description: 'IANA name', examples: ['Asia/Kolkata'] });
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}
