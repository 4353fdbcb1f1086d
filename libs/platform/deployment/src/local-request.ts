import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { UnavailableError } from '@dak/kernel';

export interface LocalReply {
  status: number;
  text: string;
}

/**
 * Asks the API of this machine. Over HTTPS it is known by its very certificate, which need not name this machine nor come
 * from an authority that it trusts.
 * @param certificateFile PEM, the certificate of the server first; null for HTTP
 */
export function localRequest(
  url: string,
  options: { method: string; headers: Record<string, string>; body?: string },
  certificateFile: string | null,
): Promise<LocalReply> {
  const { body, ...rest } = options;
  return new Promise((resolve, reject) => {
    const request =
      certificateFile === null
        ? plainRequest(url, { ...rest, agent: false })
        : tlsRequest(url, { ...rest, agent: false, rejectUnauthorized: false });
    request.once('socket', (socket) => {
      if (certificateFile === null) return;
      socket.once('secureConnect', () => {
        const shown = (socket as TLSSocket).getPeerX509Certificate();
        const own = new X509Certificate(readFileSync(certificateFile));
        if (shown?.fingerprint256 === own.fingerprint256) return;
        request.destroy(new UnavailableError('Another server answers at the address of the API.'));
      });
    });
    request.once('error', reject);
    request.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.end(body);
  });
}
