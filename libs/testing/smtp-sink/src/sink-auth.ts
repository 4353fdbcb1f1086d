export interface SinkIdentity {
  readonly user: string;
  /** Password or access token. */
  readonly secret: string;
}

/** Runs the server's side of a SASL exchange; null for a mechanism the sink does not know. */
export async function readIdentity(
  mechanism: string,
  initial: string | undefined,
  challenge: (text: string) => Promise<string>,
): Promise<SinkIdentity | null> {
  switch (mechanism) {
    case 'PLAIN': {
      const [, user = '', secret = ''] = decode(initial ?? (await challenge(''))).split('\0');
      return { user, secret };
    }
    case 'LOGIN': {
      const user = decode(initial ?? (await challenge('Username:')));
      return { user, secret: decode(await challenge('Password:')) };
    }
    case 'XOAUTH2': {
      const response = decode(initial ?? (await challenge('')));
      return {
        user: /user=([^\x01]*)/.exec(response)?.[1] ?? '',
        secret: /auth=Bearer ([^\x01]*)/.exec(response)?.[1] ?? '',
      };
    }
    default:
      return null;
  }
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}
