import { InvalidError } from '@dak/kernel';
import type { SmtpCredentials } from './smtp-endpoint';
import type { SmtpReply } from './smtp-reply';

/**
 * Authenticates with the best mechanism both sides know (RFC 4954; XOAUTH2 for access tokens).
 * Returns the last reply, 235 on success, or null when no mechanism fits.
 * @throws InvalidError for a NUL or line break in the credentials
 */
export async function authenticate(
  command: (line: string) => Promise<SmtpReply>,
  mechanisms: readonly string[],
  credentials: SmtpCredentials,
): Promise<SmtpReply | null> {
  const secret = 'password' in credentials ? credentials.password : credentials.accessToken;
  // NUL separates the parts of PLAIN (RFC 4616 §2), 0x01 those of XOAUTH2.
  if (/[\u0000\u0001\r\n]/.test(credentials.user + secret)) {
    throw new InvalidError('credentials have a line break or control character. Remove it.');
  }
  if ('accessToken' in credentials) {
    if (!mechanisms.includes('XOAUTH2')) return null;
    const token = `user=${credentials.user}\u0001auth=Bearer ${secret}\u0001\u0001`;
    const reply = await command(`AUTH XOAUTH2 ${base64(token)}`);
    // The challenge carries the error; an empty answer asks for the final reply.
    return reply.code === 334 ? command('') : reply;
  }
  if (mechanisms.includes('PLAIN')) {
    return command(`AUTH PLAIN ${base64(`\u0000${credentials.user}\u0000${secret}`)}`);
  }
  if (!mechanisms.includes('LOGIN')) return null;
  let reply = await command('AUTH LOGIN');
  if (reply.code === 334) reply = await command(base64(credentials.user));
  if (reply.code === 334) reply = await command(base64(secret));
  return reply;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
